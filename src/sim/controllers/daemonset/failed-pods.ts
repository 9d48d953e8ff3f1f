import type { Clock } from '../../../runtime/index.ts';

const FIRST_MS = 1000;
const LONGEST_MS = 15 * 60_000;

/** Keeps a DaemonSet from fighting with a node that fails every pod: the time between two deletes of failed ones doubles. */
export const createFailedPodBackOff = (clock: Clock) => {
  const known = new Map<string, { delayMs: number; at: number }>();
  return {
    /** Milliseconds to wait before the next failed pod of this key is deleted; 0 for now, which counts as done. */
    holdMs(key: string): number {
      const now = clock.now();
      const found = known.get(key);
      if (found && now - found.at < found.delayMs) return found.delayMs;
      // As long without a failure again as the back-off can be: it begins anew.
      const fresh = !found || now - found.at > 2 * LONGEST_MS;
      known.set(key, { delayMs: fresh ? FIRST_MS : Math.min(LONGEST_MS, found.delayMs * 2), at: now });
      return 0;
    },
    forget(prefix: string): void {
      for (const key of known.keys()) if (key.startsWith(prefix)) known.delete(key);
    },
  };
};
export type FailedPodBackOff = ReturnType<typeof createFailedPodBackOff>;
