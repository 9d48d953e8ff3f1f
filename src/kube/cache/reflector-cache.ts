import { backoffMs, type Env, sleep, type Timer } from '../../runtime/index.ts';
import { isOlder, isOlderOrSame } from '../client/formats.ts';
import { keyOf } from '../client/resource.ts';
import type { CacheFailure, KubeObject, ReflectorHandler, Store } from '../client/types.ts';
import { createStore, type Indexers, type MutableStore } from './store.ts';

interface Cached<P> {
  value: P;
  uid: string;
  version: string;
}

/** A snapshot that is being read. */
export interface Staging<T> {
  put(object: T): void;
  drop(key: string): void;
}

export interface ReflectorCache<T, P> {
  readonly store: Store<P>;
  addHandler(handler: ReflectorHandler<P>): () => void;
  /** `reached`: the version of the snapshot. */
  stage(): Staging<T> & { commit(reached: string, mayBeOlder: boolean, signal: AbortSignal): Promise<void> };
  /** Applies one event of a watch that has reached `streamVersion`. Stale and repeated events change nothing. */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T, streamVersion: string): void;
  /**
   * Applies a response, which may be ahead of the watch or behind it. Returns false if the watch is past it and has not
   * delivered it: its event was lost, unless the object has been deleted.
   */
  accept(object: T, streamVersion: string): boolean;
  /** See `Reflector`. */
  acceptDeletion(key: string, uid: string): void;
  /** See `Reflector`. */
  readonly failures: readonly CacheFailure[];
  /** Tries nothing again from here on. */
  stop: () => void;
}

/** Changes that are delivered to handlers before other work gets a turn of the event loop. */
const DELIVERIES_PER_TURN = 1000;
/** A list that begins this long after a response is believed in any case: no API server lags for longer. */
const MAX_LAG_MS = 60_000;
/** What failed is tried again after this long, even if its object does not change. */
const RETRY = { baseMs: 1_000, maxMs: 30_000 };

const NO_FAILURES: readonly CacheFailure[] = [];

/** What a step of the cache does for a key. One that fails is repeated until it, or a later one of its kind, succeeds. */
type Step = 'apply' | 'add' | 'remove' | 'sync';

/** Some handlers threw, the first of them `cause`; the others have what was delivered. */
class DeliveryError<H> extends Error {
  readonly behind: ReadonlySet<H>;
  constructor(behind: ReadonlySet<H>, cause: unknown) {
    super('a cache handler failed', { cause });
    this.name = 'DeliveryError';
    this.behind = behind;
  }
}

/**
 * The state of a reflector: projected values with the UID and version of their objects, and the handlers of changes. An
 * object with the same name but another UID is a different object: handlers see a remove, then an upsert of a new key.
 *
 * An object whose projection throws stays as it was, and one that a handler throws for counts as not delivered: both are
 * among the `failures` until a later try succeeds. Whoever decides by this cache has to look at them.
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
  /** By UID: what responses have removed, until the watch shows that. `version`: the one that did; undefined: it is gone. */
  const removed = new Map<string, { key: string; version: string | undefined; at: number }>();

  type Handler = ReflectorHandler<P>;
  /** By step and key. `behind`: the handlers that threw; none if the projection did. */
  const failed = new Map<string, CacheFailure & { behind: ReadonlySet<Handler>; retry: () => void }>();
  /** Handlers to call; those that are behind do not know what was delivered last. */
  interface Delivery {
    targets: Iterable<Handler>;
    isBehind: (handler: Handler) => boolean;
  }
  let retries = 0;
  let timer: Timer | undefined;
  let stopped = false;

  const retryLater = (): void => {
    if (failed.size === 0) {
      retries = 0;
      timer?.cancel();
      timer = undefined;
    } else if (timer === undefined && !stopped) {
      retries += 1;
      timer = env.clock.timer(backoffMs(retries, RETRY), () => {
        timer = undefined;
        for (const { retry } of failed.values().toArray()) retry();
        retryLater();
      });
    }
  };

  const failuresChanged = (): void => {
    for (const handler of handlers) {
      try {
        handler.failuresChanged?.();
      } catch (error) {
        env.log.error('a cache handler failed to take note of a failure', { error });
      }
    }
    retryLater();
  };

  const forget = (step: Step, key: string): void => {
    if (failed.size > 0 && failed.delete(`${step} ${key}`)) failuresChanged();
  };

  /** Runs a step for these handlers; one that throws is noted, and repeated for those that need it. */
  const attempt = (
    step: Step,
    key: string,
    object: KubeObject | undefined,
    subscribers: Iterable<Handler>,
    run: (delivery: Delivery) => void,
  ): void => {
    const tryOnce = (isRetry: boolean): void => {
      const before = failed.size > 0 ? failed.get(`${step} ${key}`) : undefined;
      const isBehind = (handler: Handler): boolean => before?.behind.has(handler) ?? false;
      const others = isRetry && before !== undefined && before.behind.size > 0;
      const targets = others
        ? [...subscribers].filter((handler) => isBehind(handler) && handlers.has(handler))
        : subscribers;
      try {
        run({ targets, isBehind });
        forget(step, key);
      } catch (thrown) {
        const { behind, error } =
          thrown instanceof DeliveryError
            ? { behind: thrown.behind as ReadonlySet<Handler>, error: thrown.cause }
            : { behind: before?.behind ?? new Set<Handler>(), error: thrown };
        failed.set(`${step} ${key}`, { key, object, error, behind, retry: () => tryOnce(true) });
        if (before) return;
        env.log.error('failed to take in an object: what depends on it waits for the next try', { key, error });
        failuresChanged();
      }
    };
    tryOnce(false);
  };

  /** Calls every handler, whichever of them throw. */
  const notify = ({ targets, isBehind }: Delivery, call: (handler: Handler, isBehind: boolean) => void): void => {
    const behind = new Set<Handler>();
    let first: unknown;
    for (const handler of targets) {
      try {
        call(handler, isBehind(handler));
      } catch (error) {
        if (behind.size === 0) first = error;
        behind.add(handler);
      }
    }
    if (behind.size > 0) throw new DeliveryError(behind, first);
  };

  const identity = (object: T): { uid: string; version: string } => ({
    uid: object.metadata?.uid ?? '',
    version: object.metadata?.resourceVersion ?? '',
  });

  /** What the cache keeps of an object; undefined: nothing. `held`: what it has under its name. */
  const toCached = (object: T, held: Cached<P> | undefined): Cached<P> | undefined => {
    const { uid, version } = identity(object);
    const value = project(object, held?.uid === uid ? held.value : undefined);
    return value === undefined ? undefined : { value, uid, version };
  };

  const notifyRemoved = (key: string, { value }: Cached<P>, subscribers: Iterable<Handler>): void => {
    forget('apply', key);
    attempt('remove', key, undefined, subscribers, (delivery) =>
      notify(delivery, (handler) => handler.remove?.(key, value)),
    );
  };

  const remove = (key: string): void => {
    const held = cache.delete(key);
    if (held === undefined) forget('apply', key);
    else notifyRemoved(key, held, handlers);
  };

  const notifyUpserted = (key: string, found: Cached<P>, before: Cached<P> | undefined, delivery: Delivery): void => {
    const previous = before?.uid === found.uid ? before.value : undefined;
    notify(delivery, (handler, isBehind) => handler.upsert?.(key, found.value, isBehind ? undefined : previous));
  };

  const notifySynced = (subscribers: Iterable<Handler>): void =>
    attempt('sync', '', undefined, subscribers, (delivery) => notify(delivery, (handler) => handler.synced?.()));

  /** Brings an object into the cache, and what it is now to the handlers. */
  const take = (key: string, object: T): void =>
    attempt('apply', key, object, handlers, (delivery) => {
      const held = cache.get(key);
      const next = toCached(object, held);
      if (!next) {
        remove(key);
        return;
      }
      cache.set(key, next);
      notifyUpserted(key, next, held, delivery);
    });

  const stage: ReflectorCache<T, P>['stage'] = () => {
    const staged = newStore();
    const startedAt = env.clock.now();
    /** Objects whose projection threw. */
    const unread = new Map<string, T>();
    return {
      put(object) {
        const key = keyOf(object);
        const held = cache.get(key);
        const { uid, version } = identity(object);
        unread.delete(key);
        // Unchanged: keep the old value, so that references to it stay valid and handlers need not be called.
        if (held !== undefined && held.uid === uid && held.version === version && version !== '') {
          staged.set(key, held);
          return;
        }
        try {
          const next = toCached(object, held);
          if (next) staged.set(key, next);
          else staged.delete(key);
        } catch {
          // Its state of before is better than none: it exists.
          if (held?.uid === uid) staged.set(key, held);
          else staged.delete(key);
          unread.set(key, object);
        }
      },
      drop(key) {
        unread.delete(key);
        staged.delete(key);
      },
      async commit(reached, mayBeOlder, signal) {
        const old = cache;
        for (const [uid, { key, version, at }] of removed) {
          const found = staged.get(key);
          const isStale = found?.uid === uid && (version === undefined || isOlder(found.version, version));
          if (isStale && !mayBeOlder && startedAt - at < MAX_LAG_MS) this.drop(key);
          else removed.delete(uid);
        }
        if (!mayBeOlder) {
          for (const [key, held] of old.entries())
            if (isOlder(staged.get(key)?.version ?? reached, held.version)) staged.set(key, held);
        }
        cache = staged;
        everSynced = true;
        // A handler added from here on receives the whole new state, and must not also see the changes that led to it.
        const subscribers = [...handlers];
        let deliveries = 0;
        const turn = async (): Promise<void> => {
          deliveries += 1;
          if (deliveries % DELIVERIES_PER_TURN === 0) await sleep(env.clock, 0, signal);
        };
        for (const { key, object } of failed.values().toArray())
          if (object !== undefined && !staged.get(key) && !unread.has(key)) forget('apply', key);
        // Before anything is decided by the new state.
        for (const [key, object] of unread) take(key, object);
        for (const [key, held] of old.entries()) {
          const found = staged.get(key);
          if (found !== undefined && found.uid === held.uid) continue;
          notifyRemoved(key, held, subscribers);
          await turn();
        }
        for (const [key, found] of staged.entries()) {
          const before = old.get(key);
          if (before === found || unread.has(key)) continue;
          attempt('apply', key, undefined, subscribers, (delivery) => {
            if (cache.get(key) === found) notifyUpserted(key, found, before, delivery);
          });
          await turn();
        }
        notifySynced(subscribers);
      },
    };
  };

  /** Whether a response has already removed this version of an object. */
  const isRemoved = ({ uid, version }: { uid: string; version: string }): boolean => {
    const known = removed.get(uid);
    if (known === undefined) return false;
    const isStale = known.version === undefined || isOlderOrSame(version, known.version);
    if (!isStale || version === known.version) removed.delete(uid);
    return isStale;
  };

  const apply: ReflectorCache<T, P>['apply'] = (type, object, streamVersion) => {
    const key = keyOf(object);
    const held = cache.get(key);
    const { uid, version } = identity(object);
    if (type === 'DELETED') {
      removed.delete(uid);
      if (held === undefined || !isOlder(version, held.version)) remove(key);
      return;
    }
    // Without `held`, only the stream's position tells a new object from a stale event of a deleted one.
    if (isOlderOrSame(version, held?.version ?? streamVersion) || isRemoved({ uid, version })) return;
    if (held !== undefined && held.uid !== uid) remove(key);
    take(key, object);
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
        for (const [key, cached] of cache.entries())
          attempt('add', key, undefined, [handler], (delivery) => {
            if (cache.get(key) === cached) notifyUpserted(key, cached, undefined, delivery);
          });
        notifySynced([handler]);
      }
      return () => handlers.delete(handler);
    },
    stage,
    apply,
    accept(object, streamVersion) {
      const key = keyOf(object);
      const before = cache.get(key);
      const { uid, version } = identity(object);
      const isPast = isOlderOrSame(version, streamVersion);
      if (before === undefined && isPast) return object.metadata?.deletionTimestamp !== undefined || removed.has(uid);
      apply('MODIFIED', object, streamVersion);
      const after = cache.get(key);
      if (before?.uid === uid && after === undefined && !isPast)
        removed.set(uid, { key, version, at: env.clock.now() });
      return !isPast || after === before;
    },
    acceptDeletion(key, uid) {
      if (cache.get(key)?.uid !== uid) return;
      removed.set(uid, { key, version: undefined, at: env.clock.now() });
      remove(key);
    },
    get failures() {
      return failed.size === 0 ? NO_FAILURES : [...failed.values()];
    },
    stop: () => {
      stopped = true;
      timer?.cancel();
    },
  };
};
