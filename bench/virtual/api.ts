import {
  type CallOptions,
  type DeleteOptions,
  type KubeClient,
  KubeError,
  type KubeObject,
  keyOf,
  type ListOptions,
  type ObjectRef,
  type Resource,
  type WatchEvent,
  type WatchOptions,
} from '../../src/kube/index.ts';
import { matches, parseSelector } from '../../src/rollout/index.ts';
import { type Clock, sleep } from '../../src/runtime/index.ts';

/** As often as a real API server does: a controller that hears nothing for long takes the link for dead. */
const BOOKMARK_EVERY_MS = 60_000;

type Stored = KubeObject & { metadata: NonNullable<KubeObject['metadata']> };
type Change = 'ADDED' | 'MODIFIED' | 'DELETED';

interface Watcher {
  plural: string;
  wants: (object: Stored) => boolean;
  push: (event: WatchEvent<Stored>) => void;
}

export interface MemoryApiOptions {
  clock: Clock;
  /** From a call to its answer, ms; it takes effect halfway. */
  roundTripMs: number;
  /** From a change to its watch event, ms. 0 delivers at once. */
  watchLagMs: number;
  /** Watches get copies of their own, as from a network: what a cache keeps is then not the server's. Default false. */
  copies?: boolean;
  /** Called for each pod whose deletion was requested. */
  onDelete: (pod: Stored) => void;
}

/**
 * An API server in memory: what the native controller needs of one, with optimistic locking, preconditions of deletes,
 * label selectors and streamed lists. No HTTP and no JSON, so that only the controller is measured.
 */
export const createMemoryApi = ({ clock, roundTripMs, watchLagMs, copies, onDelete }: MemoryApiOptions) => {
  const tables = new Map<string, Map<string, Stored>>();
  const watchers = new Set<Watcher>();
  const writes = new Map<string, number>();
  let version = 1;

  const table = (plural: string): Map<string, Stored> => {
    const known = tables.get(plural) ?? new Map<string, Stored>();
    tables.set(plural, known);
    return known;
  };

  const commit = <T extends KubeObject>(change: Change, plural: string, object: T): T => {
    version += 1;
    const stored: Stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    const key = keyOf(stored);
    if (change === 'DELETED') table(plural).delete(key);
    else table(plural).set(key, stored);
    for (const { plural: wanted, wants, push } of watchers) {
      if (wanted !== plural || !wants(stored)) continue;
      if (watchLagMs === 0) push({ type: change, object: stored });
      else clock.timer(watchLagMs, () => push({ type: change, object: stored }));
    }
    return stored as T & Stored;
  };

  const selects = (namespace: string | undefined, labelSelector: string | undefined) => {
    const parsed = parseSelector(labelSelector ?? '');
    if (!parsed.ok) throw new KubeError('BadRequest', `cannot read the selector ${labelSelector}`);
    return ({ metadata }: Stored): boolean =>
      (namespace === undefined || metadata.namespace === namespace) && matches(parsed.selector, metadata.labels ?? {});
  };

  const call = async <R>(options: CallOptions | undefined, effect: () => R): Promise<R> => {
    await sleep(clock, roundTripMs / 2, options?.signal);
    const result = effect();
    await sleep(clock, roundTripMs / 2);
    return result;
  };

  const wrote = (verb: string, plural: string): void => {
    const key = `${verb} ${plural}`;
    writes.set(key, (writes.get(key) ?? 0) + 1);
  };

  const find = <T extends KubeObject>({ plural }: Resource<T>, ref: { namespace?: string; name: string }): Stored => {
    const found = table(plural).get(ref.namespace === undefined ? ref.name : `${ref.namespace}/${ref.name}`);
    if (!found) throw new KubeError('NotFound', `${plural} ${ref.name} is not there`, { status: 404 });
    return found;
  };
  const conflict = (what: string): KubeError => new KubeError('Conflict', what, { status: 409 });

  async function* open(watcher: Omit<Watcher, 'push'>, initial: boolean, signal: AbortSignal | undefined) {
    let queue: WatchEvent<Stored>[] = initial
      ? [...table(watcher.plural).values()].filter(watcher.wants).map((object) => ({ type: 'ADDED', object }))
      : [];
    if (initial) queue.push({ type: 'BOOKMARK', resourceVersion: String(version), initialEventsEnd: true });
    let wake: (() => void) | undefined;
    const push = (event: WatchEvent<Stored>): void => {
      queue.push(event);
      wake?.();
    };
    const onAbort = (): void => wake?.();
    const own: Watcher = { ...watcher, push };
    watchers.add(own);
    let bookmarks = clock.timer(BOOKMARK_EVERY_MS, bookmark);
    function bookmark(): void {
      push({ type: 'BOOKMARK', resourceVersion: String(version), initialEventsEnd: false });
      bookmarks = clock.timer(BOOKMARK_EVERY_MS, bookmark);
    }
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      for (;;) {
        const ready = queue;
        queue = [];
        for (const event of ready) yield copies ? (JSON.parse(JSON.stringify(event)) as typeof event) : event;
        if (signal?.aborted) throw signal.reason;
        if (queue.length > 0) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      bookmarks.cancel();
      watchers.delete(own);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  const client: KubeClient = {
    server: 'memory:',
    get: <T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: CallOptions) =>
      call(options, () => find(resource, ref) as T),
    list: <T extends KubeObject>(resource: Resource<T>, options?: ListOptions) =>
      call(options, () => {
        const wanted = selects(options?.namespace, options?.labelSelector);
        const items = [...table(resource.plural).values()].filter(wanted) as T[];
        return { items, resourceVersion: String(version) };
      }),
    create: <T extends KubeObject>(resource: Resource<T>, object: T, options?: CallOptions) =>
      call(options, () => {
        wrote('create', resource.plural);
        const metadata = { uid: `uid-${version}`, ...object.metadata };
        return commit('ADDED', resource.plural, { ...object, metadata });
      }),
    replace: <T extends KubeObject>(resource: Resource<T>, object: T, options?: CallOptions) =>
      call(options, () => {
        wrote('update', resource.plural);
        const { namespace, name = '' } = object.metadata ?? {};
        const held = find(resource, { name, ...(namespace === undefined ? {} : { namespace }) });
        if (held.metadata.resourceVersion !== object.metadata?.resourceVersion) throw conflict(`${name} has changed`);
        return commit('MODIFIED', resource.plural, object);
      }),
    patch: () => Promise.reject(new KubeError('BadRequest', 'no benchmark needs patches')),
    delete: <T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: DeleteOptions) =>
      call(options, () => {
        wrote('delete', resource.plural);
        const held = find(resource, ref);
        const { uid, resourceVersion } = options?.preconditions ?? {};
        if (uid !== undefined && uid !== held.metadata.uid) throw conflict(`${ref.name} is another`);
        if (resourceVersion !== undefined && resourceVersion !== held.metadata.resourceVersion)
          throw conflict(`${ref.name} has changed`);
        const deletionTimestamp = new Date(clock.now()).toISOString();
        const metadata = { ...held.metadata, deletionTimestamp };
        const left = commit('MODIFIED', resource.plural, { ...held, metadata });
        onDelete(left);
        return left as T;
      }),
    watch: <T extends KubeObject>(resource: Resource<T>, options: WatchOptions = {}) => {
      const wants = selects(options.namespace, options.labelSelector);
      const stream = open({ plural: resource.plural, wants }, options.sendInitialEvents ?? false, options.signal);
      return stream as AsyncIterable<WatchEvent<T>>;
    },
    raw: () => Promise.resolve('ok'),
    close: () => Promise.resolve(),
  };

  return { client, commit, writes: writes as ReadonlyMap<string, number> };
};
export type MemoryApi = ReturnType<typeof createMemoryApi>;
