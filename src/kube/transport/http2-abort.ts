import { subscribe } from 'node:diagnostics_channel';
import type { ClientHttp2Stream } from 'node:http2';
import type { Dispatcher } from 'undici';

/** Receives the next stream: undici creates it right after it reports that a request starts. */
let take: ((stream: ClientHttp2Stream) => void) | undefined;

subscribe('http2.client.stream.created', (message) => {
  take?.((message as { stream: ClientHttp2Stream }).stream);
  take = undefined;
});

/**
 * Gives `handler` a controller whose `abort` destroys the stream before undici does. undici's own abort can block the
 * process forever while the request's body has not left: it closes the stream without an error, which waits for the body
 * before it resets anything, and then destroys it, which assumes that it was reset already. nghttp2 keeps asking for the
 * body of a stream that Node has forgotten, and takes the missing answer for an empty chunk (see
 * docs/decisions/0001-http2.md).
 */
export const withSafeAbort = (handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler => ({
  ...handler,
  onRequestStart(controller, context) {
    let stream: ClientHttp2Stream | undefined;
    const takeMine = (created: ClientHttp2Stream): void => {
      stream = created;
    };
    take = takeMine;
    // If undici creates none after all, the next stream belongs to another request.
    queueMicrotask(() => {
      if (take === takeMine) take = undefined;
    });
    handler.onRequestStart?.(
      {
        get aborted() {
          return controller.aborted;
        },
        get paused() {
          return controller.paused;
        },
        get reason() {
          return controller.reason;
        },
        abort(reason) {
          stream?.destroy();
          controller.abort(reason);
        },
        pause: () => controller.pause(),
        resume: () => controller.resume(),
      },
      context,
    );
  },
});
