import {
  type KubeClient,
  KubeError,
  type KubeObject,
  type Resource,
  type WatchEvent,
  type WatchOptions,
} from '../../src/kube/index.ts';
import type { ApiServer, StoredObject } from '../types.ts';
import { listPage } from './handlers/list.ts';
import { patchObject } from './handlers/patch.ts';
import type { ServerState } from './handlers/state.ts';
import { openWatch, type WatchMessage } from './handlers/watch.ts';
import { validateFields } from './http/field-validation.ts';
import type { Json } from './json.ts';
import { stateOf } from './server.ts';

const BOOKMARK_MS = 60_000;
const SECOND = 1000;

const eventOf = <T>(message: Exclude<WatchMessage, { type: 'ERROR' }>): WatchEvent<T> =>
  message.type === 'BOOKMARK'
    ? { type: 'BOOKMARK', resourceVersion: String(message.version), initialEventsEnd: message.initialEventsEnd }
    : { type: message.type, object: message.object as T };

/** A watch as an async iterator. */
async function* streamOf<T extends KubeObject>(
  state: ServerState,
  resource: Resource<T>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const { signal } = options;
  signal?.throwIfAborted();
  const kind = state.registry.resolve(resource);
  const waiting: WatchMessage[] = [];
  let ended = false;
  let wake: (() => void) | undefined;
  const notify = (): void => {
    wake?.();
    wake = undefined;
  };
  const end = (): void => {
    ended = true;
    notify();
  };
  const watch = openWatch(
    state,
    kind,
    {
      namespace: options.namespace,
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      resourceVersion: options.resourceVersion,
      ...(options.sendInitialEvents ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } : {}),
      bookmarks: true,
    },
    {
      message(message) {
        waiting.push(message);
        notify();
      },
      end,
    },
  );
  options.onOpen?.();
  let marks = state.clock.timer(BOOKMARK_MS, function mark() {
    watch.bookmark();
    marks = state.clock.timer(BOOKMARK_MS, mark);
  });
  // Like the HTTP client: 5 to 10 minutes.
  const seconds = options.timeoutSeconds ?? 300 * (1 + state.random());
  const life = state.clock.timer(seconds * SECOND, end);
  signal?.addEventListener('abort', notify, { once: true });
  try {
    for (;;) {
      if (signal?.aborted) throw signal.reason;
      const message = waiting.shift();
      if (message) {
        if (message.type === 'ERROR') throw message.error;
        yield eventOf<T>(message);
        continue;
      }
      if (ended) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    signal?.removeEventListener('abort', notify);
    marks.cancel();
    life.cancel();
    watch.close();
  }
}

/**
 * A `KubeClient` without a connection: each call is a function call that resolves in a microtask, and time is the API
 * server's clock. Objects are shared with the store and must not be modified. Errors are the server's; there are no
 * connection errors.
 */
export const createInProcessClient = (apiServer: ApiServer): KubeClient => {
  const state = stateOf(apiServer);
  let closed = false;

  const call = async <R>(signal: AbortSignal | undefined, run: () => R): Promise<R> => {
    signal?.throwIfAborted();
    if (closed) throw new KubeError('Transport', 'the client is closed');
    // Never resolve synchronously, like any transport.
    await Promise.resolve();
    return run();
  };

  return {
    server: 'https://embedded.invalid',
    get: (resource, ref, options = {}) => call(options.signal, () => apiServer.get(resource, ref)),
    list: <T extends KubeObject>(resource: Resource<T>, options: Parameters<KubeClient['list']>[1] = {}) =>
      call(options.signal, () => {
        const page = listPage(state, state.registry.resolve(resource), options);
        return {
          items: [...page.items] as unknown as T[],
          resourceVersion: String(page.version),
          ...(page.next === undefined ? {} : { continue: page.next }),
        };
      }),
    create: (resource, object, options = {}) =>
      call(options.signal, () => {
        const { fieldValidation } = options;
        if (fieldValidation)
          validateFields(
            state.registry.resolve(resource),
            object as unknown as Json,
            new URLSearchParams({ fieldValidation }),
          );
        return apiServer.create(resource, object, options);
      }),
    replace: (resource, object, options = {}) =>
      call(options.signal, () => apiServer.update(resource, object, options)),
    patch: <T extends KubeObject>(
      resource: Resource<T>,
      ref: Parameters<KubeClient['patch']>[1],
      body: unknown,
      options: Parameters<KubeClient['patch']>[3],
    ) =>
      call(options.signal, () => {
        if (options.type === 'apply' && !options.fieldManager)
          throw new KubeError('BadRequest', 'server-side apply requires fieldManager');
        const { object } = patchObject(state, state.registry.resolve(resource), ref, body, options);
        return object as StoredObject & T;
      }),
    delete: (resource, ref, options = {}) => call(options.signal, () => apiServer.delete(resource, ref, options)),
    watch: (resource, options = {}) => streamOf(state, resource, options),
    raw: (path, options = {}) =>
      call(options.signal, () => {
        if (['/readyz', '/healthz', '/livez'].includes(path)) return 'ok';
        throw new KubeError('NotFound', `GET ${path}: the in-process client serves only the health checks`, {
          status: 404,
        });
      }),
    close: () => {
      closed = true;
      return Promise.resolve();
    },
  };
};
