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

/** A snapshot while it is being gathered. */
export interface Staging<T> {
  put(object: T): void;
  drop(object: T): void;
}

export interface ReflectorCache<T, P> {
  readonly store: Store<P>;
  addHandler(handler: ReflectorHandler<P>): () => void;
  stage(): Staging<T> & { commit(mayBeOlder: boolean, signal: AbortSignal): Promise<void> };
  /** One event of a live watch that has come as far as `streamVersion`. Stale and repeated ones change nothing. */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T, streamVersion: string): void;
}

/** Handlers are told of this many changes before the event loop gets its turn. */
const DELIVERIES_A_TURN = 1000;

/**
 * What a reflector knows: projected values with the identity and version they had, and the handlers that are told of
 * each change. Objects with the same name but another uid are another object: a remove, then an upsert of a new key.
 */
export const createReflectorCache = <T extends KubeObject, P>(options: {
  env: Env;
  project: (object: T) => P | undefined;
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

  /** Files the object's projection; false when it is not to be cached. */
  const file = (into: MutableStore<Cached<P>>, key: string, object: T): boolean => {
    try {
      const value = project(object);
      if (value === undefined) return false;
      into.set(key, { value, ...identity(object) });
      return true;
    } catch (error) {
      env.log.error('an object could not be projected and is left out', { key, error });
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
        // Unchanged: keeping the old value keeps its identity for those who hold it, and no handler needs to be told.
        if (held !== undefined && held.uid === uid && held.version === version && version !== '') staged.set(key, held);
        else if (!file(staged, key, object)) staged.delete(key);
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
        // One who joins from here on is shown the new state as a whole, and must not be told of the way to it.
        const audience = [...handlers];
        let deliveries = 0;
        const turn = async (): Promise<void> => {
          deliveries += 1;
          if (deliveries % DELIVERIES_A_TURN === 0) await sleep(env.clock, 0, signal);
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
      // Without `held`, only the stream's own place tells news from an echo of what was deleted since.
      if (isOlderOrSame(version, held?.version ?? streamVersion)) return;
      if (held !== undefined && held.uid !== uid) remove(key);
      if (!file(cache, key, object)) {
        remove(key);
        return;
      }
      const value = cache.get(key)?.value;
      const previous = held?.uid === uid ? held.value : undefined;
      if (value !== undefined) notify(handlers, (handler) => handler.upsert?.(key, value, previous));
    },
  };
};
