import type { Clock } from '../../runtime/index.ts';
import type { Rate } from './limits.ts';

export interface RateLimiter {
  /** Takes one request of `key`: 0 when it may go, else the seconds after which another try may succeed. */
  take(key: string, rate: Rate): number;
}

interface Bucket {
  tokens: number;
  at: number;
}

// As many users as a device ever has at once; whoever was forgotten begins with a full bucket.
const MOST_KEYS = 256;

/** Token buckets, one a key: refuses at once instead of keeping callers waiting. */
export const createRateLimiter = (clock: Pick<Clock, 'now'>): RateLimiter => {
  const buckets = new Map<string, Bucket>();
  return {
    take(key, { perSecond, burst }) {
      const now = clock.now();
      const { tokens, at } = buckets.get(key) ?? { tokens: burst, at: now };
      // A clock that was set back must not take tokens away.
      const filled = Math.min(burst, tokens + (Math.max(0, now - at) / 1000) * perSecond);
      const allowed = filled >= 1;
      buckets.delete(key);
      buckets.set(key, { tokens: allowed ? filled - 1 : filled, at: now });
      if (buckets.size > MOST_KEYS)
        for (const oldest of buckets.keys()) if (buckets.size > MOST_KEYS) buckets.delete(oldest);
      return allowed ? 0 : Math.max(1, Math.ceil((1 - filled) / perSecond));
    },
  };
};
