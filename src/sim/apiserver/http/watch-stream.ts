import { sleep } from '../../../runtime/index.ts';
import { memoize } from '../../memoize.ts';
import { toStatus } from '../errors.ts';
import type { ServerState } from '../handlers/state.ts';
import { openWatch, type WatchMessage, type WatchRequest } from '../handlers/watch.ts';
import type { Json } from '../json.ts';
import { apiVersionOf, type Kind } from '../registry/kind.ts';
import type { ObjectEncoder } from './encoder.ts';
import type { Response } from './exchange.ts';

const BOOKMARK_MS = 60_000;
const SHORTEST_SECONDS = 1800;
const SECOND = 1000;

const bookmarkObject = (kind: Kind, version: number, initialEventsEnd: boolean): Json => ({
  kind: kind.kind,
  apiVersion: apiVersionOf(kind),
  metadata: {
    resourceVersion: String(version),
    creationTimestamp: null,
    ...(initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  },
});

// Serialized once for all watches that send the same object.
const textOf = memoize((object: Json) => JSON.stringify(object));

/** A watch as lines of JSON. It ends when the client disconnects, the timeout expires, or the server ends it. */
export const watchStream = (
  state: ServerState,
  kind: Kind,
  request: WatchRequest,
  encoder: ObjectEncoder,
  options: { timeoutSeconds: number | undefined; signal: AbortSignal },
): Response => ({
  is: 'stream',
  async run(send) {
    let first = true;
    const ended = new AbortController();
    const signal = AbortSignal.any([options.signal, ended.signal]);
    const lineOf = (message: WatchMessage): string => {
      if (message.type === 'BOOKMARK') {
        const object = bookmarkObject(kind, message.version, message.initialEventsEnd);
        return `{"type":"BOOKMARK","object":${JSON.stringify(object)}}\n`;
      }
      if (message.type === 'ERROR') return `{"type":"ERROR","object":${JSON.stringify(toStatus(message.error))}}\n`;
      const object = encoder.event(message.object, first);
      first = false;
      return `{"type":"${message.type}","object":${textOf(object)}}\n`;
    };
    const watch = openWatch(state, kind, request, {
      message: (message) => send(lineOf(message)),
      end: () => ended.abort(),
    });
    let marks = state.clock.timer(BOOKMARK_MS, function mark() {
      watch.bookmark();
      marks = state.clock.timer(BOOKMARK_MS, mark);
    });
    // Randomized like the real server, so that not all watches end together.
    const seconds = options.timeoutSeconds ?? SHORTEST_SECONDS * (1 + state.random());
    try {
      await sleep(state.clock, seconds * SECOND, signal).catch(() => undefined);
      if (!signal.aborted) watch.bookmark();
    } finally {
      marks.cancel();
      watch.close();
    }
  },
});
