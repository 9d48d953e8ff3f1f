import type { Clock } from '../runtime/index.ts';

/** Requests per second: on average, and at once. */
export interface Rate {
  perSecond: number;
  burst: number;
}

export interface RateLimiter {
  /** Takes one token of `key`. Returns 0 when the request may proceed, otherwise the seconds to wait before retrying. */
  take(key: string, rate: Rate): number;
}

// More users than a device ever has at once. A key that is evicted starts again with a full bucket.
const MAX_KEYS = 256;

/** One token bucket per key. Refuses at once instead of making callers wait. */
export const createRateLimiter = (clock: Pick<Clock, 'now'>): RateLimiter => {
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
    take(key, { perSecond, burst }) {
      const now = clock.now();
      const { tokens, at } = buckets.get(key) ?? { tokens: burst, at: now };
      // A clock that is set back must not take tokens away.
      const filled = Math.min(burst, tokens + (Math.max(0, now - at) / 1000) * perSecond);
      const allowed = filled >= 1;
      buckets.delete(key);
      buckets.set(key, { tokens: allowed ? filled - 1 : filled, at: now });
      for (const oldest of buckets.keys()) {
        if (buckets.size <= MAX_KEYS) break;
        buckets.delete(oldest);
      }
      return allowed ? 0 : Math.max(1, Math.ceil((1 - filled) / perSecond));
    },
  };
};
