import { readFile } from 'node:fs/promises';
import { isatty } from 'node:tty';
import type { Env } from '../../runtime/index.ts';
import type { ClusterConfig } from '../config/cluster-config.ts';
import { type Connection, createConnection } from '../transport/connection.ts';
import type { ConnectionOptions } from '../transport/dialer.ts';

/** One attempt, for metrics. */
export interface RequestReport {
  verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'raw';
  method: string;
  host: string;
  /** The HTTP status, or `<error>` without a response. */
  code: string;
  /** Plural of the resource, with its group after a dot; empty for raw paths. */
  resource: string;
  /** Until the response's headers arrived; waiting for the rate limit is not counted. */
  seconds: number;
  /** From the response's Date header; ms since the epoch, in whole seconds. */
  serverTime?: number;
  /** When they arrived, by the client's clock; with `serverTime`. */
  receivedAt?: number;
}

export interface ClientOptions {
  env: Env;
  /** `edgeset-<part>/<version>`. */
  userAgent: string;
  /**
   * Average requests per second. Default 0: no limit, because the API server has its own (priority and fairness, with
   * Retry-After), and `maxInFlight` bounds what it is asked at the same time.
   */
  qps?: number;
  /** With `qps`, the requests that may be sent at once. Default 100. */
  burst?: number;
  /**
   * Calls in flight at the same time; others wait. Calls of one namespace take at most half of them, and those that take
   * longer than two seconds, as with an admission webhook that hangs, keep none from other namespaces. Watches count until
   * the server has accepted them, and separately. Default 128.
   */
  maxInFlight?: number;
  /** Default timeout of a call. Default 30,000. */
  timeoutMs?: number;
  /** Timeout for connecting, including TLS. Default 10,000. */
  connectTimeoutMs?: number;
  /** Largest response body. Default 64 MiB. */
  maxBodyBytes?: number;
  /** Longest line of a watch. Default 16 MiB. */
  maxLineBytes?: number;
  /**
   * A watch that receives nothing for this long (plus up to a fifth, at random) fails with `Timeout`. Default 300,000: API
   * servers send bookmarks about every minute but need not. Dead connections are found sooner, see `deadAfterMs`.
   */
  watchIdleMs?: number;
  /**
   * An HTTP/2 connection that receives nothing for this long, PING answers included, is closed with all its streams.
   * Default 30,000.
   */
  deadAfterMs?: number;
  /** Retries of a call; `retryDelay` in requester.ts says which. Default 4. */
  maxRetries?: number;
  /** Called once per attempt. Must not throw. */
  onRequest?: (report: RequestReport) => void;
  /** Environment of credential plugins. Default: that of the process. */
  environment?: Record<string, string | undefined>;
  /** Whether a user can answer a credential plugin's prompts. Default: whether stdin is a terminal. */
  terminal?: boolean;
  /** Opens connections. Default: over TLS or TCP. */
  connect?: (env: Env, options: ConnectionOptions) => Connection;
  /** Reads certificates and tokens. Default: from the disk. */
  readFile?: (path: string) => Promise<string>;
  /**
   * Reads the configuration again after a 401: a login writes new credentials into the kubeconfig. They are used if it still
   * names the same server and context. Default: it is not read again.
   */
  reload?: () => Promise<ClusterConfig | undefined>;
  /** Parses responses and lines of watches. Default: `JSON.parse`. */
  parse?: (text: string) => unknown;
  /** Writes the bodies of requests. Default: `JSON.stringify`. */
  stringify?: (value: unknown) => string;
}

export type ResolvedClientOptions = Required<ClientOptions>;

export const resolveClientOptions = (options: ClientOptions): ResolvedClientOptions => {
  const resolved: ResolvedClientOptions = {
    qps: 0,
    burst: 100,
    maxInFlight: 128,
    timeoutMs: 30_000,
    connectTimeoutMs: 10_000,
    maxBodyBytes: 64 * 1024 * 1024,
    maxLineBytes: 16 * 1024 * 1024,
    watchIdleMs: 300_000,
    deadAfterMs: 30_000,
    maxRetries: 4,
    onRequest: () => undefined,
    environment: process.env,
    terminal: isatty(0),
    connect: createConnection,
    readFile: (path) => readFile(path, 'utf8'),
    reload: () => Promise.resolve(undefined),
    parse: (text) => JSON.parse(text) as unknown,
    stringify: (value) => JSON.stringify(value),
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
    'maxInFlight',
  ] as const) {
    if (!(resolved[field] > 0)) throw new RangeError(`${field} must be above zero, not ${resolved[field]}`);
  }
  return resolved;
};
