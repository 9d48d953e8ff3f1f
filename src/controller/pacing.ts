import { nextAllowedAt as turnAfter } from './keyed-backoff.ts';

export { turnAfter };

/** Spaces out what is tried again without a clear answer: `firstMs` (default 1 s), doubling to `longestMs` (30 s). */
export const createPacing = ({ firstMs = 1_000, longestMs = 30_000 } = {}) => {
  const waits = new Map<string, { since: number; forMs: number }>();
  return {
    /** When `key` may be tried again; a time that is past for at once. */
    until(key: string, now: number): number {
      const wait = waits.get(key);
      return wait ? turnAfter(wait.since, wait.forMs, now) : 0;
    },
    failed(key: string, now: number): void {
      // What was given up is never told to have succeeded.
      for (const [other, { since, forMs }] of waits)
        if (now - since > forMs + 2 * longestMs && other !== key) waits.delete(other);
      const before = waits.get(key)?.forMs;
      waits.set(key, { since: now, forMs: before === undefined ? firstMs : Math.min(longestMs, before * 2) });
    },
    succeeded(key: string): void {
      waits.delete(key);
    },
    get size(): number {
      return waits.size;
    },
  };
};
