import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { nextTurn } from '../../runtime/index.ts';

export interface HttpRequest {
  method: Dispatcher.HttpMethod;
  /** With the query. */
  path: string;
  /** Alternating names and values; a name may occur more than once. */
  headers: string[];
  body?: string | undefined;
}

/** An undici client or pool. */
export type Sender = Pick<Dispatcher, 'dispatch'>;

export interface HttpResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** Can be read once. Leaving the loop early cancels the response. */
  body: AsyncGenerator<Uint8Array, void, undefined>;
}

/** No complete response arrived. `sent` is false only when no byte of the request can have left. */
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

const toError = (reason: unknown): Error =>
  reason instanceof Error ? reason : new Error('the call was aborted', { cause: reason });

/**
 * One request and its streamed answer. Rejects with a `RoundTripError`, or with the signal's reason as soon as `signal`
 * aborts; the body, too, throws one of these two.
 */
export const roundTrip = (
  sender: Sender,
  origin: string,
  request: HttpRequest,
  signal: AbortSignal,
): Promise<HttpResponse> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    let controller: Dispatcher.DispatchController | undefined;
    let sent = false;
    let failure: { error: unknown } | undefined;
    let ended = false;
    let chunks: Uint8Array[] = [];
    let queued = 0;
    let wake: (() => void) | undefined;

    const fail = (error: unknown): void => {
      if (failure !== undefined || ended) return;
      failure = { error };
      signal.removeEventListener('abort', onAbort);
      reject(error);
      wake?.();
    };
    const onAbort = (): void => {
      fail(signal.reason);
      controller?.abort(toError(signal.reason));
    };

    let sinceTurn = 0;
    const turn = async (): Promise<void> => {
      controller?.pause();
      await nextTurn();
      sinceTurn = 0;
      controller?.resume();
    };

    async function* read(): AsyncGenerator<Uint8Array, void, undefined> {
      try {
        for (;;) {
          // What arrived before a failure is still delivered: a watch must not lose complete events.
          const ready = chunks;
          chunks = [];
          queued = 0;
          if (controller?.paused) controller.resume();
          if (ready.length > 0) {
            for (const chunk of ready) {
              if (sinceTurn > TURN_BYTES) await turn();
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
        signal.removeEventListener('abort', onAbort);
        if (!ended && failure === undefined) {
          failure = { error: new RoundTripError(true, new Error('the reader stopped')) };
          controller?.abort(new Error('the reader stopped'));
        }
      }
    }

    signal.addEventListener('abort', onAbort, { once: true });
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started;
        if (failure !== undefined) {
          started.abort(toError(failure.error));
          return;
        }
        // undici replays requests that the server reports as unprocessed and, by mistake, some that it may have
        // processed. A write is sent once.
        if (sent && request.method !== 'GET') {
          started.abort(new Error('the connection was lost during the request'));
          return;
        }
        sent = true;
      },
      onResponseStart(_controller, status, headers) {
        if (status < 200) return;
        resolve({ status, headers, body: read() });
      },
      onResponseData(current, chunk) {
        if (failure !== undefined) return;
        chunks.push(chunk);
        queued += chunk.length;
        if (queued > HIGH_WATER_BYTES) current.pause();
        wake?.();
      },
      onResponseEnd() {
        if (failure !== undefined) return;
        ended = true;
        signal.removeEventListener('abort', onAbort);
        wake?.();
      },
      onResponseError(_controller, error) {
        fail(new RoundTripError(sent, error));
      },
    };
    const { body = null, ...head } = request;
    try {
      sender.dispatch({ origin, ...head, body, headersTimeout: 0, bodyTimeout: 0 }, handler);
    } catch (error) {
      fail(new RoundTripError(false, error));
    }
  });
