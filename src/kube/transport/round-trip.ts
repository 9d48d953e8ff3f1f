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
  on: {
    /** From now on bytes of the request may leave. */
    sending(): void;
    response(status: number | undefined, headers: IncomingHttpHeaders, body: Readable): void;
  },
) => ClientRequest | ClientHttp2Stream;

export interface HttpResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** Can be read once. Leaving the loop early cancels the response. */
  body: AsyncGenerator<Uint8Array, void, undefined>;
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

/** With more bytes than this buffered, the server is paused until the reader has consumed them. */
const HIGH_WATER_BYTES = 64 * 1024;
/** A socket can deliver megabytes within one turn of the event loop: after this much, other work gets a turn. */
const TURN_BYTES = 128 * 1024;

/**
 * One request and its streamed answer. Rejects with a `RoundTripError`, or with the signal's reason as soon as `signal`
 * aborts; the body, too, throws one of these two.
 */
export const roundTrip = (send: Send, request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    let stream: ReturnType<Send> | undefined;
    let sent = false;
    let answered = false;
    let failure: { error: unknown } | undefined;
    let ended = false;
    let chunks: Uint8Array[] = [];
    let queued = 0;
    let wake: (() => void) | undefined;

    /** How HTTP/2 closed the stream. */
    const resetCode = (): number | undefined => (stream && 'rstCode' in stream ? stream.rstCode : undefined);
    const fail = (error: unknown): void => {
      if (failure !== undefined || ended) return;
      failure = { error };
      signal.removeEventListener('abort', onAbort);
      reject(error);
      wake?.();
    };
    // A server refuses what it has not looked at; a GOAWAY refuses the streams that it does not cover.
    const lose = (cause: unknown): void =>
      fail(new RoundTripError(sent && resetCode() !== constants.NGHTTP2_REFUSED_STREAM, cause));
    const onClose = (): void => lose(new Error('the connection was closed before the response was complete'));
    const giveUp = (error: unknown): void => {
      fail(error);
      stream?.destroy();
    };
    const onAbort = (): void => giveUp(signal.reason);

    async function* read(body: Readable): AsyncGenerator<Uint8Array, void, undefined> {
      let sinceTurn = 0;
      try {
        for (;;) {
          // What arrived before a failure is still delivered: a watch must not lose complete events.
          const ready = chunks;
          chunks = [];
          queued = 0;
          if (body.isPaused()) body.resume();
          if (ready.length > 0) {
            for (const chunk of ready) {
              if (sinceTurn > TURN_BYTES) {
                body.pause();
                await nextTurn();
                sinceTurn = 0;
                body.resume();
              }
              sinceTurn += chunk.length;
              yield chunk;
              if (signal.aborted) throw signal.reason;
            }
            continue;
          }
          if (failure !== undefined) throw failure.error;
          if (ended) return;
          await new Promise<void>((resume) => {
            wake = resume;
          });
          wake = undefined;
        }
      } finally {
        if (!ended) giveUp(new RoundTripError(true, new Error('the reader stopped')));
        signal.removeEventListener('abort', onAbort);
      }
    }

    signal.addEventListener('abort', onAbort, { once: true });
    try {
      stream = send(request, {
        sending() {
          sent = true;
        },
        response(status = 0, headers, body) {
          answered = true;
          body
            .on('data', (chunk: Uint8Array) => {
              if (failure !== undefined) return;
              chunks.push(chunk);
              queued += chunk.length;
              if (queued > HIGH_WATER_BYTES) body.pause();
              wake?.();
            })
            .on('end', () => {
              // A stream that was reset ends as well.
              if (resetCode()) return onClose();
              ended = failure === undefined;
              signal.removeEventListener('abort', onAbort);
              wake?.();
            })
            .on('error', lose)
            .on('close', onClose);
          resolve({ status, headers, body: read(body) });
        },
      });
      stream.on('error', lose).on('close', () => answered || onClose());
    } catch (error) {
      fail(new RoundTripError(false, error));
    }
  });
