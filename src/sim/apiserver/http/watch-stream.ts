import { sleep } from '../../../runtime/index.ts';
import type { Core } from '../core/core.ts';
import { openWatch, type WatchMessage, type WatchRequest } from '../core/watch.ts';
import { apiVersionOf, type Kind } from '../kinds/index.ts';
import { statusOf } from '../refusal.ts';
import type { Json } from '../value/index.ts';
import type { Answer } from './answer.ts';
import type { Representation } from './represent.ts';

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

// One text for all watches that are told of the same object.
const texts = new WeakMap<Json, string>();

const textOfObject = (object: Json): string => {
  let text = texts.get(object);
  if (text === undefined) {
    text = JSON.stringify(object);
    texts.set(object, text);
  }
  return text;
};

/** A watch as lines of JSON, until the client goes, the time is up, or the server has no more to say. */
export const watchStream = (
  core: Core,
  kind: Kind,
  request: WatchRequest,
  shown: Representation,
  options: { timeoutSeconds: number | undefined; signal: AbortSignal },
): Answer => ({
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
      if (message.type === 'ERROR') return `{"type":"ERROR","object":${JSON.stringify(statusOf(message.error))}}\n`;
      const object = shown.event(message.object, first);
      first = false;
      return `{"type":"${message.type}","object":${textOfObject(object)}}\n`;
    };
    const watch = openWatch(core, kind, request, {
      message: (message) => send(lineOf(message)),
      end: () => ended.abort(),
    });
    let marks = core.clock.timer(BOOKMARK_MS, function mark() {
      watch.bookmark();
      marks = core.clock.timer(BOOKMARK_MS, mark);
    });
    // As a real server does, so that not all watches of a cluster end together.
    const seconds = options.timeoutSeconds ?? SHORTEST_SECONDS * (1 + core.random());
    try {
      await sleep(core.clock, seconds * SECOND, signal).catch(() => undefined);
      if (!signal.aborted) watch.bookmark();
    } finally {
      marks.cancel();
      watch.close();
    }
  },
});
