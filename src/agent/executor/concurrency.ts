import type { Clock } from '../../runtime/index.ts';

/** Runs one task at a time, first come, first served. */
export interface Mutex {
  /** Undefined if its turn did not come by `until` (epoch milliseconds): `work` was not started then. */
  run<T>(work: () => Promise<T>, until?: number): Promise<T | undefined>;
}

export const createMutex = (clock: Clock): Mutex => {
  let last: Promise<void> = Promise.resolve();

  /** False if `until` came first. */
  const waitFor = async (before: Promise<void>, until: number): Promise<boolean> => {
    const timeout = Promise.withResolvers<boolean>();
    const timer =
      until === Number.POSITIVE_INFINITY ? undefined : clock.timer(until - clock.now(), () => timeout.resolve(false));
    const acquired = await Promise.race([before.then(() => true), timeout.promise]);
    timer?.cancel();
    return acquired;
  };

  return {
    async run(work, until = Number.POSITIVE_INFINITY) {
      const before = last;
      const done = Promise.withResolvers<void>();
      last = done.promise;
      if (!(await waitFor(before, until))) {
        // The next task still has to wait for the one before this.
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

/** Identical concurrent calls share one result. */
export type Singleflight<T> = (key: string, work: () => Promise<T>) => Promise<T>;

export const createSingleflight = <T>(): Singleflight<T> => {
  const pending = new Map<string, Promise<T>>();
  return (key, work) => {
    const found = pending.get(key);
    if (found) return found;
    const result = work().finally(() => pending.delete(key));
    pending.set(key, result);
    return result;
  };
};
