/**
 * When what was last done at `last` may be done again. A `last` in the future was read before the clock was set back: it
 * delays nothing.
 */
export const nextAllowedAt = (last: number, intervalMs: number, now: number): number =>
  last > now ? now : last + intervalMs;

export interface BackoffOptions {
  /** Default: 1 s. */
  initialMs?: number;
  /** Default: 30 s. */
  maxMs?: number;
}

/** Exponential back-off for each of many keys: doubles with every failure of a key, starts over after a success. */
export const createKeyedBackoff = ({ initialMs = 1_000, maxMs = 30_000 }: BackoffOptions = {}) => {
  const entries = new Map<string, { since: number; forMs: number }>();
  return {
    /** When `key` may be tried again; a time in the past for at once. */
    nextAttemptAt(key: string, now: number): number {
      const entry = entries.get(key);
      return entry ? nextAllowedAt(entry.since, entry.forMs, now) : 0;
    },
    failed(key: string, now: number): void {
      // Keys that nobody tries any longer never succeed: they expire.
      for (const [other, { since, forMs }] of entries)
        if (now - since > forMs + 2 * maxMs && other !== key) entries.delete(other);
      const before = entries.get(key)?.forMs;
      entries.set(key, { since: now, forMs: before === undefined ? initialMs : Math.min(maxMs, before * 2) });
    },
    reset(key: string): void {
      entries.delete(key);
    },
    get size(): number {
      return entries.size;
    },
  };
};
