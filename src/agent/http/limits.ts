/** What one caller, and all of them together, may take of the device. */
export interface Limits {
  /** Of a request's body. */
  bodyBytes: number;
  /** Of a request line with its headers. */
  headerBytes: number;
  /** Of the request-target. */
  targetChars: number;
  /** Until the head of a request is there, from the connection's first moment. */
  headersMs: number;
  /** Until a request is there as a whole. */
  requestMs: number;
  /** Between requests of one connection. */
  keepAliveMs: number;
  /** Without a byte in either direction. */
  idleMs: number;
  /** Sockets at all, most of which nobody could be named for yet: enough that a flood of strangers leaves room. */
  sockets: number;
  /** Of the allowed local users together, and of all others together: neither can take the other's. */
  connections: number;
  /** Of one local user or remote address. */
  connectionsPerCaller: number;
  /** Of all who may not call, or cannot be told apart, together. */
  connectionsOfAnonymous: number;
  /** Requests of one connection that wait for their answer. */
  pipelined: number;
  /** Requests a second: on average, and at once. */
  ratePerCaller: Rate;
  rateOfAnonymous: Rate;
  /** Of the allowed local users together, and of all others together. */
  ratePerPool: Rate;
  /** Event streams. */
  streams: number;
  /** Of one event stream: its reader comes back, and is asked again who it is. */
  streamMs: number;
  heartbeatMs: number;
  /** What a reader of events may leave unread. */
  unreadBytes: number;
  /** How long a stop waits for answers under way: an act may take this long. */
  stopMs: number;
}

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
