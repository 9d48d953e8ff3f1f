// What all maps of cells share: the color scheme, and the beat in which nodes that are being updated pulse.

const dark = matchMedia('(prefers-color-scheme: dark)');
const calm = matchMedia('(prefers-reduced-motion: reduce)');

/** One pulse takes a second: slow enough to be no flicker, and few enough drawings for ten thousand cells. */
const BEAT_MS = 500;
/** How opaque the cells are, beat by beat. */
const BEATS = [1, 0.7] as const;

/** Draws again with what has changed. */
type Redraw = () => void;

const redraws = new Set<Redraw>();
let beat = 0;
let timer: ReturnType<typeof setInterval> | undefined;

export const scheme = (): 'light' | 'dark' => (dark.matches ? 'dark' : 'light');

/** From 0 to 1: how opaque a pulsing cell is now. */
export const pulse = (): number => (calm.matches ? 1 : (BEATS[beat % BEATS.length] ?? 1));

const redrawAll = (): void => {
  for (const redraw of redraws) redraw();
};

const onBeat = (): void => {
  // A tab in the background keeps its picture.
  if (document.hidden || calm.matches) return;
  beat += 1;
  redrawAll();
};

dark.addEventListener('change', redrawAll);
calm.addEventListener('change', redrawAll);

/** Calls on every beat and on every change of the scheme, until the returned function is called. */
export const onEveryBeat = (redraw: Redraw): (() => void) => {
  redraws.add(redraw);
  timer ??= setInterval(onBeat, BEAT_MS);
  return () => {
    redraws.delete(redraw);
    if (redraws.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
};
