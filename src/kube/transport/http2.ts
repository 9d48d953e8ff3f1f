import { validateHeaderValue } from 'node:http';
import { connect, type Settings } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../../runtime/index.ts';
import type { Send } from './round-trip.ts';

export interface Http2Session {
  send: Send;
  /** Streams that are open now. */
  readonly streams: number;
  readonly closed: boolean;
  /** Lets running streams finish, and closes the connection then. */
  drain(): void;
}

/** Of a stream and of the connection: a response that nobody reads must leave room for others. */
const STREAM_WINDOW_BYTES = 256 * 1024;
const CONNECTION_WINDOW_BYTES = 512 * 1024;
/** A connection is dead after this many consecutive checks without a byte received. */
const CHECKS = 3;

/**
 * Requests over HTTP/2 on one connection. It is closed when nothing arrives for `deadAfterMs`, though PINGs ask for
 * answers (NAT timeouts, black holes). Checks count, not milliseconds: a machine that slept, or an event loop that was
 * blocked, must not be mistaken for a dead connection.
 */
export const createHttp2Session = (
  clock: Clock,
  socket: Socket,
  { origin, deadAfterMs, onLimit }: { origin: string; deadAfterMs: number; onLimit: (maxStreams: number) => void },
): Http2Session => {
  // By itself, Node leaves out the brackets of an IPv6 address.
  const { host } = new URL(origin);
  const session = connect(origin, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
  });
  session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
  // Each of its streams fails, too.
  session
    .on('error', () => undefined)
    .on('remoteSettings', ({ maxConcurrentStreams }: Settings) => onLimit(maxConcurrentStreams ?? Infinity));
  let streams = 0;
  let received = socket.bytesRead;
  let silentChecks = 0;
  const check = (): void => {
    if (session.destroyed) return;
    silentChecks = socket.bytesRead === received ? silentChecks + 1 : 0;
    received = socket.bytesRead;
    if (silentChecks >= CHECKS) {
      session.destroy(new Error(`nothing was received for ${deadAfterMs} ms`));
      return;
    }
    session.ping(() => undefined);
    timer = clock.timer(deadAfterMs / CHECKS, check);
  };
  let timer = clock.timer(deadAfterMs / CHECKS, check);
  session.once('close', () => timer.cancel());
  return {
    // A GOAWAY closes it as well.
    get closed() {
      return session.closed || session.destroyed;
    },
    get streams() {
      return streams;
    },
    drain: () => session.close(),
    send({ method, path, headers, body }, onResponse) {
      // Node would cut off what does not fit a byte.
      for (const [name, value] of Object.entries(headers)) validateHeaderValue(name, String(value));
      const stream = session.request(
        { ':authority': host, ':method': method, ':path': path, ...headers },
        { endStream: body === undefined },
      );
      streams += 1;
      stream
        .on('response', (answer) => onResponse(answer[':status'], answer, stream))
        .once('close', () => {
          streams -= 1;
        });
      if (body !== undefined) stream.end(body);
      return stream;
    },
  };
};
