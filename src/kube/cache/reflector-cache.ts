import { type Env, sleep } from '../../runtime/index.ts';
import { isOlder, isOlderOrSame } from '../client/formats.ts';
import { keyOf } from '../client/resource.ts';
import type { KubeObject, ReflectorHandler, Store } from '../client/types.ts';
import { createStore, type Indexers, type MutableStore } from './store.ts';

interface Cached<P> {
  value: P;
  uid: string;
  version: string;
}

/** A snapshot that is being read. */
export interface Staging<T> {
  put(object: T): void;
  drop(object: T): void;
}

export interface ReflectorCache<T, P> {
  readonly store: Store<P>;
  addHandler(handler: ReflectorHandler<P>): () => void;
  stage(): Staging<T> & { commit(mayBeOlder: boolean, signal: AbortSignal): Promise<void> };
  /** Applies one event of a watch that has reached `streamVersion`. Stale and repeated events change nothing. */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T, streamVersion: string): void;
}

/** Changes that are delivered to handlers before other work gets a turn of the event loop. */
const DELIVERIES_PER_TURN = 1000;

/**
 * The state of a reflector: projected values with the UID and version of their objects, and the handlers of changes. An
 * object with the same name but another UID is a different object: handlers see a remove, then an upsert of a new key.
 */
export const createReflectorCache = <T extends KubeObject, P>(options: {
  env: Env;
  project: (object: T, known?: P) => P | undefined;
  indexes: Indexers<P>;
  handlers: readonly ReflectorHandler<P>[];
}): ReflectorCache<T, P> => {
  const { env, project } = options;
  const handlers = new Set(options.handlers);
  const indexers: Indexers<Cached<P>> = Object.fromEntries(
    Object.entries(options.indexes).map(([name, terms]) => [name, (cached: Cached<P>) => terms(cached.value)]),
  );
  const newStore = (): MutableStore<Cached<P>> => createStore<Cached<P>>(indexers);
  let cache = newStore();
  let everSynced = false;

  const notify = (targets: Iterable<ReflectorHandler<P>>, call: (handler: ReflectorHandler<P>) => void): void => {
    for (const handler of targets) {
      try {
        call(handler);
      } catch (error) {
        env.log.error('a cache handler failed', { error });
      }
    }
  };

  const identity = (object: T): { uid: string; version: string } => ({
    uid: object.metadata?.uid ?? '',
    version: object.metadata?.resourceVersion ?? '',
  });

  /** Stores the object's projection; false when the object is not cached. `held`: what the cache has under its name. */
  const put = (into: MutableStore<Cached<P>>, key: string, object: T, held: Cached<P> | undefined): boolean => {
    try {
      const { uid, version } = identity(object);
      const value = project(object, held?.uid === uid ? held.value : undefined);
      if (value === undefined) return false;
      into.set(key, { value, uid, version });
      return true;
    } catch (error) {
      env.log.error('leaving out an object whose projection failed', { key, error });
      return false;
    }
  };

  const stage: ReflectorCache<T, P>['stage'] = () => {
    const staged = newStore();
    return {
      put(object) {
        const key = keyOf(object);
        const held = cache.get(key);
        const { uid, version } = identity(object);
        // Unchanged: keep the old value, so that references to it stay valid and handlers need not be called.
        if (held !== undefined && held.uid === uid && held.version === version && version !== '') staged.set(key, held);
        else if (!put(staged, key, object, held)) staged.delete(key);
      },
      drop: (object) => void staged.delete(keyOf(object)),
      async commit(mayBeOlder, signal) {
        const old = cache;
        if (!mayBeOlder) {
          for (const [key, held] of old.entries()) {
            const found = staged.get(key);
            if (found !== undefined && isOlder(found.version, held.version)) staged.set(key, held);
          }
        }
        cache = staged;
        everSynced = true;
        // A handler added from here on receives the whole new state, and must not also see the changes that led to it.
        const audience = [...handlers];
        let deliveries = 0;
        const turn = async (): Promise<void> => {
          deliveries += 1;
          if (deliveries % DELIVERIES_PER_TURN === 0) await sleep(env.clock, 0, signal);
        };
        for (const [key, { value, uid }] of old.entries()) {
          const found = staged.get(key);
          if (found !== undefined && found.uid === uid) continue;
          notify(audience, (handler) => handler.remove?.(key, value));
          await turn();
        }
        for (const [key, found] of staged.entries()) {
          const before = old.get(key);
          if (before === found) continue;
          const previous = before?.uid === found.uid ? before.value : undefined;
          notify(audience, (handler) => handler.upsert?.(key, found.value, previous));
          await turn();
        }
        notify(audience, (handler) => handler.synced?.());
      },
    };
  };

  const remove = (key: string): void => {
    const held = cache.delete(key);
    if (held !== undefined) notify(handlers, (handler) => handler.remove?.(key, held.value));
  };

  return {
    store: {
      get: (key) => cache.get(key)?.value,
      byIndex: (index, value) => cache.byIndex(index, value).map((cached) => cached.value),
      *values() {
        for (const { value } of cache.values()) yield value;
      },
      *entries() {
        for (const [key, { value }] of cache.entries()) yield [key, value];
      },
      get size() {
        return cache.size;
      },
    },
    addHandler(handler) {
      handlers.add(handler);
      if (everSynced) {
        for (const [key, { value }] of cache.entries()) notify([handler], (one) => one.upsert?.(key, value, undefined));
        notify([handler], (one) => one.synced?.());
      }
      return () => handlers.delete(handler);
    },
    stage,
    apply(type, object, streamVersion) {
      const key = keyOf(object);
      const held = cache.get(key);
      const { uid, version } = identity(object);
      if (type === 'DELETED') {
        if (held !== undefined && !isOlder(version, held.version)) remove(key);
        return;
      }
      // Without `held`, only the stream's position tells a new object from a stale event of a deleted one.
      if (isOlderOrSame(version, held?.version ?? streamVersion)) return;
      if (held !== undefined && held.uid !== uid) remove(key);
      if (!put(cache, key, object, held)) {
        remove(key);
        return;
      }
      const value = cache.get(key)?.value;
      const previous = held?.uid === uid ? held.value : undefined;
      if (value !== undefined) notify(handlers, (handler) => handler.upsert?.(key, value, previous));
    },
  };
};
