import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { nextTurn } from '../../runtime/index.ts';

export interface HttpRequest {
  method: Dispatcher.HttpMethod;
  /** With the query. */
  path: string;
  /** Name, value, name, value: a name may come more than once. */
  headers: string[];
  body?: string | undefined;
}

/** What can send: a client, a pool or several. */
export type Sender = Pick<Dispatcher, 'dispatch'>;

export interface HttpResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** To be read once. Leaving it early cancels the answer. */
  body: AsyncGenerator<Uint8Array, void, undefined>;
}

/** The answer did not come, or not to its end. `sent` is false when surely no byte of the request left. */
export class ExchangeError extends Error {
  readonly sent: boolean;

  constructor(sent: boolean, cause: unknown) {
    super(cause instanceof Error ? cause.message : 'the connection failed', { cause });
    this.name = 'ExchangeError';
    this.sent = sent;
  }
}

// Above HIGH bytes waiting for the reader the server is asked to pause until the reader has taken them.
const HIGH = 64 * 1024;
/** A socket can deliver megabytes within one turn of the event loop: after this much, everything else gets its turn. */
const TURN_BYTES = 128 * 1024;

const toError = (reason: unknown): Error =>
  reason instanceof Error ? reason : new Error('the call was aborted', { cause: reason });

/**
 * One request and its streamed answer. Rejects with an `ExchangeError`, or with the signal's reason as soon as `signal`
 * aborts; the body, too, throws one of these two.
 */
export const exchange = (
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
          // What arrived before a failure is still delivered: a watch must not lose events that were complete.
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
          failure = { error: new ExchangeError(true, new Error('the reader left')) };
          controller?.abort(new Error('the reader left'));
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
        // undici replays what a server says it has not seen, and, by mistake, what the server may have seen. A write
        // goes out once.
        if (sent && request.method !== 'GET') {
          started.abort(new Error('the connection was lost with the request on it'));
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
        if (queued > HIGH) current.pause();
        wake?.();
      },
      onResponseEnd() {
        if (failure !== undefined) return;
        ended = true;
        signal.removeEventListener('abort', onAbort);
        wake?.();
      },
      onResponseError(_controller, error) {
        fail(new ExchangeError(sent, error));
      },
    };
    const { body = null, ...head } = request;
    try {
      sender.dispatch({ origin, ...head, body, headersTimeout: 0, bodyTimeout: 0 }, handler);
    } catch (error) {
      fail(new ExchangeError(false, error));
    }
  });
