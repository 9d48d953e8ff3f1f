import type { ClientRequest, IncomingHttpHeaders } from 'node:http';
import { type ClientHttp2Stream, constants } from 'node:http2';
import type { Readable } from 'node:stream';
import { nextTurn } from '../../runtime/index.ts';

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With the query. */
  path: string;
  /** An array is sent as one header for each of its values. */
  headers: Record<string, string | string[]>;
  body?: string | undefined;
}

/** Starts a request over HTTP/1.1 or HTTP/2. Throws when it can't be sent at all. */
export type Send = (
  request: HttpRequest,
  onResponse: (status: number | undefined, headers: IncomingHttpHeaders, body: Readable) => void,
) => ClientRequest | ClientHttp2Stream;

export interface HttpResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** Can be read once. Leaving the loop early cancels the response. */
  body: AsyncGenerator<Uint8Array, void, undefined>;
  /** Instead of reading the body. */
  cancel(): void;
}

/** No complete response arrived. `sent` is false only when the server can't have acted on the request. */
export class RoundTripError extends Error {
  readonly sent: boolean;

  constructor(sent: boolean, cause: unknown) {
    super(cause instanceof Error ? cause.message : 'the connection failed', { cause });
    this.name = 'RoundTripError';
    this.sent = sent;
  }
}

/** A socket can deliver megabytes within one turn of the event loop: after this much, other work gets a turn. */
const TURN_BYTES = 128 * 1024;

/** Whether the server may have acted on a request. */
const wasSent = (stream: ReturnType<Send>): boolean =>
  // A server refuses what it has not looked at; a GOAWAY refuses the streams that it does not cover.
  'rstCode' in stream ? stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM : stream.socket !== null;

async function* read(body: Readable, signal: AbortSignal): HttpResponse['body'] {
  let sinceTurn = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      if (sinceTurn > TURN_BYTES) {
        await nextTurn();
        sinceTurn = 0;
      }
      sinceTurn += chunk.length;
      yield chunk;
      signal.throwIfAborted();
    }
    signal.throwIfAborted();
    // A stream of HTTP/2 ends, too, when it is reset.
    if ('rstCode' in body && body.rstCode !== constants.NGHTTP2_NO_ERROR)
      throw new Error('the stream was reset before the response was complete');
  } catch (error) {
    throw signal.aborted ? signal.reason : new RoundTripError(true, error);
  }
}

/**
 * One request and its streamed answer. Rejects with a `RoundTripError`, or with the signal's reason as soon as `signal`
 * aborts; the body, too, throws one of these two.
 */
export const roundTrip = (send: Send, request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    let stream: ReturnType<Send> | undefined;
    const onAbort = (): void => {
      reject(signal.reason);
      stream?.destroy();
    };
    const lose = (cause: unknown): void => reject(new RoundTripError(stream !== undefined && wasSent(stream), cause));
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      stream = send(request, (status = 0, headers, body) => {
        // Whoever reads it is told.
        body.on('error', () => undefined);
        resolve({ status, headers, body: read(body, signal), cancel: () => void body.destroy() });
      });
      stream.on('error', lose).on('close', () => {
        signal.removeEventListener('abort', onAbort);
        lose(new Error('the connection was closed before a response'));
      });
    } catch (error) {
      signal.removeEventListener('abort', onAbort);
      lose(error);
    }
  });
