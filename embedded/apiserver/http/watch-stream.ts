import { anySignal, sleep } from '../../../src/runtime/index.ts';
import { memoize } from '../../memoize.ts';
import { toStatus } from '../errors.ts';
import type { ServerState } from '../handlers/state.ts';
import { openWatch, type WatchMessage, type WatchRequest } from '../handlers/watch.ts';
import type { Json } from '../json.ts';
import { apiVersionOf, type Kind } from '../registry/kind.ts';
import type { ObjectEncoder } from './encoder.ts';
import { type Response, type WatchLine, watchLine } from './exchange.ts';

const BOOKMARK_MS = 60_000;
const SHORTEST_SECONDS = 1800;
const SECOND = 1000;
/** As long before the end as on the real server, so shorter watches have no bookmark there. */
const BEFORE_END_MS = 2 * SECOND;

const bookmarkObject = (kind: Kind, version: number, initialEventsEnd: boolean): Json => ({
  kind: kind.kind,
  apiVersion: apiVersionOf(kind),
  metadata: {
    resourceVersion: String(version),
    creationTimestamp: null,
    ...(initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  },
});

// Serialized once for all watches that send the same object: they share one string.
const linesOf = memoize((_object: Json): Partial<Record<string, string>> => ({}));
const lineFor = (type: string, object: Json): WatchLine => {
  const line = watchLine(type, object);
  return { event: line.event, text: () => (linesOf(object)[type] ??= line.text()) };
};

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
    const signal = anySignal(options.signal, ended.signal);
    const sendMessage = (message: WatchMessage): void => {
      if (message.type === 'BOOKMARK') {
        const object = bookmarkObject(kind, message.version, message.initialEventsEnd);
        return send(watchLine('BOOKMARK', object));
      }
      if (message.type === 'ERROR') return send(watchLine('ERROR', toStatus(message.error)));
      const { type } = message;
      const object = encoder.event(message.object, first);
      first = false;
      send(lineFor(type, object));
    };
    const watch = openWatch(state, kind, request, {
      message: sendMessage,
      end: () => ended.abort(),
    });
    let marks = state.clock.timer(BOOKMARK_MS, function mark() {
      watch.bookmark();
      marks = state.clock.timer(BOOKMARK_MS, mark);
    });
    // Randomized like the real server, so that not all watches end together.
    const seconds = options.timeoutSeconds ?? SHORTEST_SECONDS * (1 + state.random());
    const lengthMs = seconds * SECOND;
    const last =
      lengthMs < BEFORE_END_MS ? undefined : state.clock.timer(lengthMs - BEFORE_END_MS, () => watch.bookmark());
    try {
      await sleep(state.clock, lengthMs, signal).catch(() => undefined);
    } finally {
      marks.cancel();
      last?.cancel();
      watch.close();
    }
  },
});
