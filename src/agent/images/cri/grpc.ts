import { type ClientHttp2Stream, connect as connectHttp2, constants, type IncomingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';
import type { Clock } from '../../../runtime/index.ts';
import { CriError, connectError, grpcCode } from './errors.ts';

/** The runtime's answers to what is asked here are a few hundred bytes; more than this is not read. */
const LONGEST_ANSWER = 4 * 1024 * 1024;
const FRAME_HEADER = 5;

export interface GrpcCall {
  /** Such as `/runtime.v1.ImageService/PullImage`. */
  path: string;
  message: Uint8Array;
  timeoutMs: number;
  signal: AbortSignal;
}

const frame = (message: Uint8Array): Buffer => {
  const header = Buffer.alloc(FRAME_HEADER);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
};

/** The one message of an answer, without its frame. */
const unframe = (body: Buffer): Buffer => {
  if (body.length < FRAME_HEADER) throw new CriError('Internal', 'the container runtime answered without a message');
  if (body[0] !== 0) throw new CriError('Internal', 'the container runtime answered in a compression nobody asked for');
  const message = body.subarray(FRAME_HEADER);
  if (message.length !== body.readUInt32BE(1))
    throw new CriError('Internal', 'the container runtime announced a message of another length than it sent');
  return message;
};

const headerText = (headers: IncomingHttpHeaders, name: string): string => {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? '';
};

/** gRPC sends messages percent-encoded; one that is not keeps its characters. */
const plainMessage = (encoded: string): string => {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
};

const httpCodes: Readonly<Record<number, 'Unimplemented' | 'Unavailable'>> = {
  404: 'Unimplemented',
  429: 'Unavailable',
  502: 'Unavailable',
  503: 'Unavailable',
  504: 'Unavailable',
};

/** What headers or trailers say went wrong; undefined for success. */
const refusalIn = (headers: IncomingHttpHeaders): CriError | undefined => {
  const code = grpcCode(headerText(headers, 'grpc-status'));
  return code && new CriError(code, plainMessage(headerText(headers, 'grpc-message')) || code);
};

const judgeHead = (headers: IncomingHttpHeaders): CriError | undefined => {
  const status = Number(headers[':status']);
  if (headers['grpc-status'] !== undefined) return refusalIn(headers);
  if (status !== 200) return new CriError(httpCodes[status] ?? 'Unknown', `the socket answered with HTTP ${status}`);
  if (!headerText(headers, 'content-type').startsWith('application/grpc'))
    return new CriError('Unknown', 'something answers at the socket that does not speak gRPC');
  return undefined;
};

/**
 * One call to a gRPC server behind a Unix socket, on a connection of its own: calls are rare and local, and so there is
 * nothing to hold while idle and nothing to mend after the runtime was restarted. An end by deadline or signal closes
 * the connection, by which the server knows that nobody waits any more. Rejects with a `CriError`, or with the signal's
 * reason.
 */
export const callOnce = (socketPath: string, clock: Clock, call: GrpcCall): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const { path, message, timeoutMs, signal } = call;
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const socket = connect(socketPath);
    const session = connectHttp2('http://localhost', { createConnection: () => socket });
    let connected = false;

    const end = (settle: () => void): void => {
      timer.cancel();
      signal.removeEventListener('abort', onAbort);
      session.destroy();
      settle();
    };
    const fail = (error: unknown): void => end(() => reject(error));
    const onAbort = (): void => fail(signal.reason);
    const lost = (error?: unknown): void =>
      fail(connected ? connectError(socketPath, undefined) : connectError(socketPath, error));
    const timer = clock.timer(timeoutMs, () =>
      fail(new CriError('DeadlineExceeded', `no answer from the container runtime within ${timeoutMs / 1000} s`)),
    );
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('connect', () => {
      connected = true;
    });
    socket.on('error', lost);
    session.on('error', lost);
    session.on('close', lost);

    const stream: ClientHttp2Stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: path,
      'content-type': 'application/grpc',
      te: 'trailers',
      'grpc-timeout': `${Math.max(1, Math.round(timeoutMs))}m`,
    });
    const chunks: Buffer[] = [];
    let size = 0;
    let verdict: CriError | undefined;
    let told = false;
    stream.on('response', (headers) => {
      verdict = judgeHead(headers);
      told = verdict !== undefined || headers['grpc-status'] !== undefined;
    });
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > LONGEST_ANSWER)
        fail(
          new CriError('ResourceExhausted', `the container runtime's answer is longer than ${LONGEST_ANSWER} bytes`),
        );
      else chunks.push(chunk);
    });
    stream.on('trailers', (headers) => {
      verdict ??= refusalIn(headers);
      told = true;
    });
    stream.on('error', lost);
    stream.on('end', () => {
      if (verdict) return fail(verdict);
      if (!told) return lost();
      try {
        const answer = unframe(Buffer.concat(chunks));
        end(() => resolve(answer));
      } catch (error) {
        fail(error);
      }
    });
    stream.end(frame(message));
  });
