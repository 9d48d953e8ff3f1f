import { TLSSocket } from 'node:tls';
import { type Env, withSignal } from '../../runtime/index.ts';
import { type ConnectionOptions, createDialer } from './dialer.ts';
import { createHttp1, type Http1 } from './http1.ts';
import { createHttp2Session, type Http2Session } from './http2.ts';
import { type HttpRequest, type HttpResponse, RoundTripError, roundTrip, type Send } from './round-trip.ts';

/** The sockets to one API server that share one set of TLS credentials. */
export interface Connection {
  /** One request and its answer; connects where needed. Rejects like `roundTrip`. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
  /** Lets running answers finish, accepts no further requests, and resolves when all sockets are closed. */
  drain(): Promise<void>;
  /** Closes all sockets now. */
  destroy(): Promise<void>;
}

/** Streams on one HTTP/2 connection: less than half of what Go servers allow (250). */
const MAX_STREAMS = 100;

/**
 * The first connection shows which protocol the server speaks. Over HTTP/2 it carries everything: another one is opened
 * when it is full, and after a GOAWAY.
 */
export const createConnection = (env: Env, options: ConnectionOptions): Connection => {
  const { origin, deadAfterMs } = options;
  const { protocol, host } = new URL(origin);
  const dialer = createDialer(env.clock, options);
  const sessions = new Set<Http2Session>();
  let http1: Http1 | undefined = protocol === 'http:' ? createHttp1(dialer, host) : undefined;
  let limit = MAX_STREAMS;
  const onLimit = (maxStreams: number): void => {
    // Where a server accepts none for now, one waits for it: more connections would not help.
    limit = Math.max(1, Math.min(MAX_STREAMS, maxStreams));
  };
  let opening: Promise<void> | undefined;
  let closed = false;

  const open = async (): Promise<void> => {
    const socket = await dialer.connect(['h2', 'http/1.1']);
    if (closed) socket.destroy();
    else if (socket instanceof TLSSocket && socket.alpnProtocol === 'h2')
      sessions.add(createHttp2Session(env.clock, socket, { origin, deadAfterMs, onLimit }));
    else http1 = createHttp1(dialer, host, socket);
  };

  /** What takes another request now. */
  const ready = (): Send | undefined => {
    if (closed) throw new Error('the connection was closed');
    if (http1 !== undefined) return http1.send;
    for (const session of sessions) {
      if (session.closed) sessions.delete(session);
      else if (session.streams < limit) return session.send;
    }
    return undefined;
  };

  return {
    async send(request, signal) {
      let send: Send | undefined;
      try {
        while ((send = ready()) === undefined) {
          opening ??= open().finally(() => {
            opening = undefined;
          });
          await withSignal(opening, signal);
        }
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw new RoundTripError(false, error);
      }
      return roundTrip(send, request, signal);
    },
    async drain() {
      closed = true;
      http1?.drain();
      for (const session of sessions) session.drain();
      await dialer.whenClosed();
    },
    async destroy() {
      closed = true;
      dialer.destroy();
      await dialer.whenClosed();
    },
  };
};
