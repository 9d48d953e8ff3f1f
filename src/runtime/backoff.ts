export interface BackoffOptions {
  /** Delay after the first failure. */
  baseMs: number;
  /** Longest delay. */
  maxMs: number;
}

/**
 * Delay before the next attempt after `failures` failures: doubles from `baseMs` up to `maxMs`. With `random` (uniform
 * in [0, 1)), jitter takes off up to half of it, so that clients that failed together do not retry together.
 */
export const backoffMs = (failures: number, { baseMs, maxMs }: BackoffOptions, random?: () => number): number => {
  const full = Math.min(maxMs, baseMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
  return random === undefined ? full : full * (0.5 + random() / 2);
};

/**
 * When an action may be repeated that was last done at `last`. A `last` in the future was read before the clock was set
 * back, and delays nothing.
 */
export const nextAllowedAt = (last: number, intervalMs: number, now: number): number =>
  last > now ? now : last + intervalMs;

/** Exponential back-off for each of many keys. Default: 1 s, doubling to 30 s; a success starts over. */
export const createKeyedBackoff = ({ baseMs = 1_000, maxMs = 30_000 }: Partial<BackoffOptions> = {}) => {
  const entries = new Map<string, { since: number; failures: number }>();
  const delayOf = (failures: number): number => backoffMs(failures, { baseMs, maxMs });
  return {
    /** When `key` may be tried again; a time in the past means now. */
    nextAttemptAt(key: string, now: number): number {
      const entry = entries.get(key);
      return entry ? nextAllowedAt(entry.since, delayOf(entry.failures), now) : 0;
    },
    failed(key: string, now: number): void {
      // Keys that are no longer tried never succeed: let them expire.
      for (const [other, { since, failures }] of entries)
        if (now - since > delayOf(failures) + 2 * maxMs && other !== key) entries.delete(other);
      entries.set(key, { since: now, failures: (entries.get(key)?.failures ?? 0) + 1 });
    },
    reset(key: string): void {
      entries.delete(key);
    },
    get size(): number {
      return entries.size;
    },
  };
};
