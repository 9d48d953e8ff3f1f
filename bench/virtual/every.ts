import type { WorkingClock } from './working-clock.ts';

/**
 * Does what another machine would do every `everyMs`, at fixed times, however late the timers before were. `count` starts at 0. Returns
 * a function that ends it.
 */
export const every = (clock: WorkingClock, everyMs: number, run: (count: number) => void): (() => void) => {
  const startedAt = clock.now();
  let count = 0;
  const next = (): void => {
    clock.free(() => run(count));
    count += 1;
    timer = clock.timer(startedAt + (count + 1) * everyMs - clock.now(), next);
  };
  let timer = clock.timer(everyMs, next);
  return () => timer.cancel();
};
