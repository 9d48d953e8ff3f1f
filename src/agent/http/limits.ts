import type { Clock } from '../../runtime/index.ts';

/** How much of the device one caller, and all callers together, may use. */
export interface Limits {
  /** Size of a request's body. */
  bodyBytes: number;
  /** Size of a request line with its headers. */
  headerBytes: number;
  /** Length of the request-target. */
  targetChars: number;
  /** From accepting the connection until the head of a request is complete. */
  headersMs: number;
  /** Until a request is complete. */
  requestMs: number;
  /** Between requests on one connection. */
  keepAliveMs: number;
  /** Without a byte in either direction. */
  idleMs: number;
  /** All open sockets, including those whose user is not known yet: high enough that a flood leaves room. */
  sockets: number;
  /** Connections of all allowed local users together, and of all other callers together: neither can use up the other's. */
  connections: number;
  /** Connections of one local user or remote address. */
  connectionsPerCaller: number;
  /** Connections of all local callers together that are not allowed or cannot be identified. */
  connectionsOfAnonymous: number;
  /** Requests on one connection that wait for their response. */
  pipelined: number;
  ratePerCaller: Rate;
  rateOfAnonymous: Rate;
  /** Of all allowed local users together, and of all other callers together. */
  ratePerPool: Rate;
  /** Open event streams. */
  streams: number;
  /** Duration of one event stream: its reader reconnects and is authenticated again. */
  streamMs: number;
  heartbeatMs: number;
  /** How much a reader of events may leave unread. */
  unreadBytes: number;
  /** How long shutdown waits for pending responses: an update may take this long. */
  stopMs: number;
}

/** Requests per second: on average, and at once. */
export interface Rate {
  perSecond: number;
  burst: number;
}

export const defaultLimits: Limits = {
  bodyBytes: 4096,
  headerBytes: 8192,
  targetChars: 1024,
  headersMs: 5_000,
  requestMs: 10_000,
  keepAliveMs: 10_000,
  idleMs: 45_000,
  sockets: 2048,
  connections: 128,
  connectionsPerCaller: 64,
  connectionsOfAnonymous: 16,
  pipelined: 8,
  ratePerCaller: { perSecond: 20, burst: 80 },
  rateOfAnonymous: { perSecond: 5, burst: 20 },
  ratePerPool: { perSecond: 60, burst: 240 },
  streams: 16,
  streamMs: 15 * 60_000,
  heartbeatMs: 15_000,
  unreadBytes: 256 * 1024,
  stopMs: 15_000,
};

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
