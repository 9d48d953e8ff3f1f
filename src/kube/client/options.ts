import { isatty } from 'node:tty';
import type { Env } from '../../runtime/index.ts';

/** One attempt, as metrics count it. */
export interface RequestReport {
  verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'raw';
  method: string;
  host: string;
  /** The HTTP status, or `<error>` when no answer came. */
  code: string;
  /** Plural of the resource, with its group after a dot; empty for raw paths. */
  resource: string;
  /** Until the answer's head; waiting for the rate limit is not counted. */
  seconds: number;
  /** The server's time as its answer says it, epoch ms in whole seconds. */
  serverTime?: number;
}

export interface ClientOptions {
  env: Env;
  /** `edgeset-<part>/<version>`. */
  userAgent: string;
  /** Requests a second, on average. Default 50; 0 turns the limit off. */
  qps?: number;
  /** Requests that may go at once. Default 100. */
  burst?: number;
  /** Of a call, when it names none. Default 30,000. */
  timeoutMs?: number;
  /** Of connecting, TLS included. Default 10,000. */
  connectTimeoutMs?: number;
  /** Largest answer that is read. Default 64 MiB. */
  maxBodyBytes?: number;
  /** Largest line of a watch. Default 16 MiB. */
  maxLineBytes?: number;
  /**
   * A watch that brings no byte for this long (plus up to a fifth, at random) fails with `Timeout`. Default 300,000: API
   * servers send bookmarks about every minute, but are not bound to. Dead connections are found sooner, see `deadAfterMs`.
   */
  watchIdleMs?: number;
  /**
   * An HTTP/2 connection that brings nothing for this long, answers to PINGs included, is torn down with all that runs
   * on it. Default 30,000.
   */
  deadAfterMs?: number;
  /** Offer HTTP/2. Default true. */
  http2?: boolean;
  /** Attempts after the first, for reads that met a transport error or a 5xx and for calls refused with 429. Default 4. */
  maxRetries?: number;
  /** Called once an attempt. Must not throw. */
  onRequest?: (report: RequestReport) => void;
  /** Environment of credential plugins. Default: the process' own. */
  environment?: Record<string, string | undefined>;
  /** Whether a person can answer a credential plugin. Default: whether stdin is a terminal. */
  terminal?: boolean;
}

export type ResolvedClientOptions = Required<ClientOptions>;

export const resolveClientOptions = (options: ClientOptions): ResolvedClientOptions => {
  const resolved: ResolvedClientOptions = {
    qps: 50,
    burst: 100,
    timeoutMs: 30_000,
    connectTimeoutMs: 10_000,
    maxBodyBytes: 64 * 1024 * 1024,
    maxLineBytes: 16 * 1024 * 1024,
    watchIdleMs: 300_000,
    deadAfterMs: 30_000,
    http2: true,
    maxRetries: 4,
    onRequest: () => undefined,
    environment: process.env,
    terminal: isatty(0),
    ...options,
  };
  for (const field of [
    'timeoutMs',
    'connectTimeoutMs',
    'maxBodyBytes',
    'maxLineBytes',
    'watchIdleMs',
    'deadAfterMs',
    'burst',
  ] as const) {
    if (!(resolved[field] > 0)) throw new RangeError(`${field} must be above zero, not ${resolved[field]}`);
  }
  return resolved;
};
