import { subscribe } from 'node:diagnostics_channel';
import type { ClientHttp2Stream } from 'node:http2';
import type { Dispatcher } from 'undici';

/** Takes the stream that is made next: undici makes it as soon as it has said that a request starts. */
let take: ((stream: ClientHttp2Stream) => void) | undefined;

subscribe('http2.client.stream.created', (message) => {
  take?.((message as { stream: ClientHttp2Stream }).stream);
  take = undefined;
});

/**
 * Gives `handler` a controller whose `abort` ends the stream before undici does. What undici does would block the
 * process for good where the request's body has not left yet: it closes the stream without an error, which waits for the
 * body before it resets anything, and then destroys it, which takes it for reset already; nghttp2 goes on to ask for the
 * body of a stream that Node has forgotten, and takes its silence for an empty piece of it, for ever
 * (docs/decisions/0001-http2.md).
 */
export const withSafeAbort = (handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler => ({
  ...handler,
  onRequestStart(controller, context) {
    let stream: ClientHttp2Stream | undefined;
    const mine = (made: ClientHttp2Stream): void => {
      stream = made;
    };
    take = mine;
    // Where it makes none after all, the next one is somebody else's.
    queueMicrotask(() => {
      if (take === mine) take = undefined;
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
