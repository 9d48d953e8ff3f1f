import { type ClientHttp2Stream, connect as connectHttp2, constants, type IncomingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';
import type { Clock } from '../../../runtime/index.ts';
import { CriError, connectError, grpcCode } from './errors.ts';

/** Responses to these calls are a few hundred bytes. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
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

/** The single message of a response, without its frame. */
const unframe = (body: Buffer): Buffer => {
  if (body.length < FRAME_HEADER)
    throw new CriError('Internal', 'the response of the container runtime has no message');
  if (body[0] !== 0) throw new CriError('Internal', 'the response of the container runtime is compressed');
  const message = body.subarray(FRAME_HEADER);
  if (message.length !== body.readUInt32BE(1))
    throw new CriError('Internal', 'the response of the container runtime has the wrong length');
  return message;
};

const headerText = (headers: IncomingHttpHeaders, name: string): string => {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? '';
};

/** gRPC percent-encodes messages; a message that is not encoded is kept as it is. */
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

/** The error in headers or trailers; undefined for success. */
const errorIn = (headers: IncomingHttpHeaders): CriError | undefined => {
  const code = grpcCode(headerText(headers, 'grpc-status'));
  return code && new CriError(code, plainMessage(headerText(headers, 'grpc-message')) || code);
};

const errorInHead = (headers: IncomingHttpHeaders): CriError | undefined => {
  const status = Number(headers[':status']);
  if (headers['grpc-status'] !== undefined) return errorIn(headers);
  if (status !== 200) return new CriError(httpCodes[status] ?? 'Unknown', `the socket returned HTTP status ${status}`);
  if (!headerText(headers, 'content-type').startsWith('application/grpc'))
    return new CriError('Unknown', 'the server at the socket does not speak gRPC');
  return undefined;
};

/**
 * One gRPC call over a Unix socket, on its own connection. Calls are rare and local, so there is nothing to keep open while
 * idle and nothing to reconnect after the runtime restarts. A timeout or abort closes the connection, which tells the
 * server to cancel the call. Rejects with a `CriError` or the signal's reason.
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
      fail(new CriError('DeadlineExceeded', `the container runtime did not respond within ${timeoutMs / 1000} s`)),
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
    let failure: CriError | undefined;
    let hasStatus = false;
    stream.on('response', (headers) => {
      failure = errorInHead(headers);
      hasStatus = failure !== undefined || headers['grpc-status'] !== undefined;
    });
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_RESPONSE_BYTES)
        fail(
          new CriError(
            'ResourceExhausted',
            `the response of the container runtime is longer than ${MAX_RESPONSE_BYTES} bytes`,
          ),
        );
      else chunks.push(chunk);
    });
    stream.on('trailers', (headers) => {
      failure ??= errorIn(headers);
      hasStatus = true;
    });
    stream.on('error', lost);
    stream.on('end', () => {
      if (failure) return fail(failure);
      if (!hasStatus) return lost();
      try {
        const answer = unframe(Buffer.concat(chunks));
        end(() => resolve(answer));
      } catch (error) {
        fail(error);
      }
    });
    stream.end(frame(message));
  });
