import { type Clock, sleep } from '../runtime/index.ts';

/** Between two frames. */
const FRAME_MS = 100;
/** Drawing may take a fifth of the time: a picture of 10,000 nodes must not occupy a processor. */
const REST = 4;
const SECOND_MS = 1000;

/** Draws when `version` has changed, and once a second for what depends on the time. Resolves when the signal aborts. */
export const keepDrawing = async (
  clock: Clock,
  version: () => unknown,
  draw: () => void | Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  let drawn: unknown;
  let at = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    let rest = FRAME_MS;
    const now = clock.now();
    if (version() !== drawn || now - at >= SECOND_MS) {
      drawn = version();
      at = now;
      await draw();
      rest = Math.max(FRAME_MS, REST * (clock.now() - now));
    }
    await sleep(clock, rest, signal).catch(() => undefined);
  }
};
