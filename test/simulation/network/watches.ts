import type { WatchEvent } from '../../../src/kube/index.ts';
import type { HttpRequest } from '../../../src/kube/testing/index.ts';
import { sleep } from '../../../src/runtime/index.ts';
import type { Call } from './call.ts';
import type { ConnectionOptions } from './connection-options.ts';
import { bookmarkLine, createWatchBody } from './watch-body.ts';
import type { StaleWatchCache } from './watch-cache.ts';

type WatchesOptions = Pick<
  ConnectionOptions,
  'handle' | 'time' | 'machine' | 'link' | 'watchCache' | 'texts' | 'observer'
>;

const toEvent = (parsed: unknown): WatchEvent<object> => {
  const { type, object } = parsed as { type: 'ADDED' | 'BOOKMARK'; object: { metadata: Metadata } };
  if (type !== 'BOOKMARK') return { type, object };
  const { resourceVersion, annotations } = object.metadata;
  return { type, resourceVersion, initialEventsEnd: annotations?.['k8s.io/initial-events-end'] === 'true' };
};
interface Metadata {
  resourceVersion: string;
  annotations?: Record<string, string>;
}

/** Names what a watch, or the list before it, selects. Native and Advanced DaemonSets have the same plural. */
export const watchNameOf = ({ resource, query }: Pick<Call, 'resource' | 'query'>, { path }: HttpRequest): string => {
  const namespace = /\/namespaces\/([^/]+)\//.exec(path)?.[1];
  return `${resource?.plural}?${query.get('labelSelector') ?? ''}&${namespace ?? ''}&${resource?.group ?? ''}`;
};

/** Opens watches: their lines travel over the link, and wake the process only while its machine runs. */
export const createWatchOpener = ({ handle, time, machine, link, watchCache, texts, observer }: WatchesOptions) => {
  /** The process has received the head of the response: the lines follow. */
  return (
    call: Call,
    request: HttpRequest,
    headers: ReadonlyMap<string, string>,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined> => {
    const { resource, query } = call;
    if (!resource) throw new Error('a watch is of a resource');
    const { plural } = resource;
    const namespace = /\/namespaces\/([^/]+)\//.exec(request.path)?.[1];
    const labelSelector = query.get('labelSelector') ?? undefined;
    const name = watchNameOf(call, request);
    const withSnapshot = query.get('sendInitialEvents') === 'true';
    const over = new AbortController();
    observer.onWatchOpened(name, plural, withSnapshot);
    const watch = createWatchBody(() => {
      signal.removeEventListener('abort', onAbort);
      observer.onWatchClosed(name, plural);
      over.abort(new Error('the watch is closed'));
      stream.drop();
    });
    const onAbort = (): void => watch.finish(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    const stream = link.stream(plural, !withSnapshot, {
      push: (line, broken) =>
        machine.deliver(() => {
          if (!broken) observer.onWatchEvent(name, plural, toEvent(texts.parse(line.trimEnd())));
          watch.push(line);
        }),
      fail: (error) => machine.deliver(() => watch.finish(error)),
      close: () => machine.deliver(() => watch.finish()),
    });

    // The server's stream is read immediately: the link holds back what is slow.
    const follow = async (path: string): Promise<void> => {
      const response = await handle({ method: 'GET', path, headers, signal: over.signal });
      if (response.is !== 'stream') return stream.refuse(response.body());
      await response.run(({ event, text }) => {
        if (machine.state === 'dead') over.abort(new Error('the process is dead'));
        else if (event.type === 'ERROR') stream.refuse(JSON.stringify(event.object));
        else stream.take(event.type === 'BOOKMARK' ? text() : `${texts.textFor(event)}\n`);
      });
    };
    /** A server that is behind serves an older state, and continues from there once it has caught up. */
    const followStale = async (stale: StaleWatchCache): Promise<void> => {
      const later = new URLSearchParams(query);
      if (withSnapshot) {
        if (watchCache.isOutdated(resource, stale.version)) stale.onEffect();
        const fieldSelector = query.get('fieldSelector') ?? undefined;
        const selected = {
          ...(namespace !== undefined && { namespace }),
          ...(labelSelector !== undefined && { labelSelector }),
          ...(fieldSelector !== undefined && { fieldSelector }),
        };
        for (const object of watchCache.list(resource, selected, stale.version))
          stream.take(`${texts.textFor({ type: 'ADDED', object })}\n`);
        stream.take(bookmarkLine(String(stale.version)));
        for (const key of ['sendInitialEvents', 'resourceVersionMatch']) later.delete(key);
        later.set('resourceVersion', String(stale.version));
      } else stale.onEffect();
      await sleep(time, Math.max(0, stale.until - time.now()), over.signal);
      await follow(`${request.path.split('?')[0]}?${later.toString()}`);
    };
    const pump = async (): Promise<void> => {
      const stale = watchCache.stale();
      try {
        await (stale ? followStale(stale) : follow(request.path));
        stream.end();
      } catch (error) {
        if (!over.signal.aborted) throw error;
      }
    };
    void pump();
    return watch.body;
  };
};
