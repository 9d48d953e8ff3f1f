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

/**
 * Exponential back-off for each of many keys. Default: 1 s, doubling to 30 s; a success starts over. Where a server asked for
 * a delay, the key waits for that, and no longer the next time.
 */
export const createKeyedBackoff = ({ baseMs = 1_000, maxMs = 30_000 }: Partial<BackoffOptions> = {}) => {
  const entries = new Map<string, { since: number; failures: number; askedMs: number | undefined }>();
  const delayOf = ({ failures, askedMs }: { failures: number; askedMs: number | undefined }): number =>
    askedMs === undefined ? backoffMs(failures, { baseMs, maxMs }) : Math.min(maxMs, Math.max(baseMs, askedMs));
  return {
    /** When `key` may be tried again; a time in the past means now. */
    nextAttemptAt(key: string, now: number): number {
      const entry = entries.get(key);
      return entry ? nextAllowedAt(entry.since, delayOf(entry), now) : 0;
    },
    failed(key: string, now: number, askedMs?: number): void {
      // Keys that are no longer tried never succeed: let them expire.
      for (const [other, entry] of entries)
        if (now - entry.since > delayOf(entry) + 2 * maxMs && other !== key) entries.delete(other);
      const failures = (entries.get(key)?.failures ?? 0) + (askedMs === undefined ? 1 : 0);
      entries.set(key, { since: now, failures, askedMs });
    },
    reset(key: string): void {
      entries.delete(key);
    },
    get size(): number {
      return entries.size;
    },
  };
};
