import type { Rate } from '../../http/index.ts';

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
