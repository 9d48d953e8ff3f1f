import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { moments } from '../store.ts';
import { text } from '../text/index.ts';
import type { RolloutHead } from '../types.ts';
import { createPlot, lines } from '../view/plot.ts';

const DRAW_MS = 1_000;
const dark = matchMedia('(prefers-color-scheme: dark)');

const timeOf = (at: number): string => new Date(at).toLocaleTimeString(text.language, { hourCycle: 'h23' });

/** How a line is drawn, in the words below the plot. */
const Key = ({ color, dash }: (typeof lines)[number]) => (
  <svg viewBox="0 0 24 8" aria-hidden="true">
    <path d="M0 4 H24" stroke={`var(${color})`} stroke-width="3" stroke-dasharray={dash.join(' ')} />
  </svg>
);

/** Nodes at the target, slots in use and failures since the rollout began. */
export const TimeLine = ({ head }: { head: RolloutHead }) => {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<ReturnType<typeof createPlot>>(undefined);
  const [at, setAt] = useState<number | undefined>();
  const [isDark, setDark] = useState(dark.matches);
  const all = moments.value;
  const hasLine = all.length > 1;
  const shownMoments = useRef(all);
  shownMoments.current = all;
  const drawn = useRef(all);
  const most = useRef({ nodes: 0, few: 0 });
  most.current = { nodes: head.online, few: head.budget.limit };

  useEffect(() => {
    const change = (): void => setDark(dark.matches);
    dark.addEventListener('change', change);
    return () => dark.removeEventListener('change', change);
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !hasLine) return undefined;
    const made = createPlot({ box: element, most: () => most.current, pointed: setAt });
    plot.current = made;
    const observer = new ResizeObserver(() => made.resize());
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current = undefined;
      made.remove();
    };
  }, [hasLine, isDark]);
  // A new plot is drawn at once, and what is new on it not with every change of the fleet.
  useLayoutEffect(() => plot.current?.draw(shownMoments.current), [hasLine, isDark]);
  useEffect(() => {
    if (!hasLine) return undefined;
    const timer = setInterval(() => {
      if (drawn.current === shownMoments.current) return;
      drawn.current = shownMoments.current;
      plot.current?.draw(drawn.current);
    }, DRAW_MS);
    return () => clearInterval(timer);
  }, [hasLine]);

  const [first] = all;
  const last = all.at(-1);
  if (!first || !last || !hasLine) return null;
  const shown = (at === undefined ? undefined : all[at]) ?? last;
  const summary = lines.map(({ title, value }) => text.timeLine.from(title, value(first), value(last)));
  return (
    <figure class="time-line">
      <div ref={box} role="img" aria-label={text.timeLine.summary(timeOf(first.at), timeOf(last.at), summary)} />
      <figcaption class="soft">
        <span>{shown === last ? text.timeLine.now : timeOf(shown.at)}:</span>
        {lines.map((line) => (
          <span key={line.title}>
            <Key {...line} /> {line.value(shown)} {line.title}
          </span>
        ))}
      </figcaption>
    </figure>
  );
};
