import type { Clock } from '../../runtime/index.ts';

/** Runs one thing at a time, in the order in which they came. */
export interface Mutex {
  /** Undefined when its turn did not come by `until` (epoch milliseconds): `work` was not begun then. */
  run<T>(work: () => Promise<T>, until?: number): Promise<T | undefined>;
}

export const createMutex = (clock: Clock): Mutex => {
  let last: Promise<void> = Promise.resolve();

  /** False when `until` came first. */
  const turnOf = async (before: Promise<void>, until: number): Promise<boolean> => {
    const late = Promise.withResolvers<boolean>();
    const timer =
      until === Number.POSITIVE_INFINITY ? undefined : clock.timer(until - clock.now(), () => late.resolve(false));
    const isOurs = await Promise.race([before.then(() => true), late.promise]);
    timer?.cancel();
    return isOurs;
  };

  return {
    async run(work, until = Number.POSITIVE_INFINITY) {
      const before = last;
      const done = Promise.withResolvers<void>();
      last = done.promise;
      if (!(await turnOf(before, until))) {
        // Whoever comes next still waits for the one before.
        void before.then(() => done.resolve());
        return undefined;
      }
      try {
        return await work();
      } finally {
        done.resolve();
      }
    },
  };
};
