import {
  type CallOptions,
  type DeleteOptions,
  type KubeClient,
  KubeError,
  type KubeObject,
  type ListOptions,
  type ObjectRef,
  type PatchOptions,
  type Resource,
  type WatchEvent,
  type WatchOptions,
} from '../../src/kube/index.ts';
import { matches, parseSelector } from '../../src/rollout/index.ts';
import { sleep } from '../../src/runtime/index.ts';
import type { WorkingClock } from './working-clock.ts';

/** As often as a real API server does: a controller that hears nothing for long takes the link for dead. */
const BOOKMARK_EVERY_MS = 60_000;
/** Old events are not kept, so no watch can resume. Reflectors list again after a stream that lasted longer than half an hour. */
const STREAM_ENDS_MS = 45 * 60_000;
/** Node reads so much of a connection, bytes, before timers and other connections get their turn. */
const READ_BYTES = 64 * 1024;
/** Written, but not kept: a real API server deletes them after an hour. */
const EVENTS = 'events';

type Stored = KubeObject & { metadata: NonNullable<KubeObject['metadata']> };
type Change = 'ADDED' | 'MODIFIED' | 'DELETED';

interface Conditioned {
  status?: { conditions?: { type: string }[] };
}

interface Watcher {
  wants: (object: Stored) => boolean;
  push: (event: WatchEvent<Stored>) => void;
}

export interface MemoryApiOptions {
  clock: WorkingClock;
  /** From a call to its answer, ms; it takes effect halfway. */
  roundTripMs: number;
  /** From a change to its watch event, ms. 0 delivers at once. */
  watchLagMs: number;
  /**
   * Watches get copies of their own, as from a network: what a cache keeps is then not the server's, and many events at once come in
   * several turns. Default false.
   */
  copies?: boolean;
  /** Called for each pod whose deletion was requested. */
  onDelete: (pod: Stored) => void;
}

/**
 * An API server in memory: what the native controller needs of one, with optimistic locking, preconditions of deletes,
 * label selectors and streamed lists. No HTTP and no JSON, so that only the controller is measured. On the working clock, to keep,
 * select and write objects takes no time; to parse the copies is the work of a client, and does. A garbage collection counts as part
 * of the work during which it happens, not of the work that left the garbage.
 */
export const createMemoryApi = ({ clock, roundTripMs, watchLagMs, copies, onDelete }: MemoryApiOptions) => {
  /** Both by collection: many namespaces cost a call to one of them nothing. */
  const tables = new Map<string, Map<string, Stored>>();
  const watchers = new Map<string, Set<Watcher>>();
  const writes = new Map<string, number>();
  // Later versions have as many digits, and take no more memory.
  let version = 10_000_000;

  /** Of a namespace, of what is in none, or watchers of all namespaces. */
  const collection = (plural: string, namespace = ''): string => `${plural}/${namespace}`;

  const table = (plural: string, namespace: string | undefined): Map<string, Stored> => {
    const key = collection(plural, namespace);
    const known = tables.get(key) ?? new Map<string, Stored>();
    tables.set(key, known);
    return known;
  };

  const objects = (plural: string, namespace: string | undefined): Stored[] =>
    namespace === undefined
      ? [...tables].flatMap(([key, objectsOf]) => (key.startsWith(`${plural}/`) ? [...objectsOf.values()] : []))
      : [...table(plural, namespace).values()];

  const deliver = (push: Watcher['push'], event: WatchEvent<Stored>): void => {
    if (watchLagMs === 0) push(event);
    else clock.timer(watchLagMs, () => push(event));
  };

  const keep = <T extends KubeObject>(change: Change, plural: string, object: T): T => {
    version += 1;
    const stored: Stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    const { name = '', namespace } = stored.metadata;
    if (plural === EVENTS) return stored as T & Stored;
    if (change === 'DELETED') table(plural, namespace).delete(name);
    else table(plural, namespace).set(name, stored);
    for (const key of new Set([collection(plural), collection(plural, namespace)]))
      for (const { wants, push } of watchers.get(key) ?? [])
        if (wants(stored)) deliver(push, { type: change, object: stored });
    return stored as T & Stored;
  };
  const commit = <T extends KubeObject>(change: Change, plural: string, object: T): T =>
    clock.free(() => keep(change, plural, object));

  const selects = (labelSelector: string | undefined) => {
    const parsed = parseSelector(labelSelector ?? '');
    if (!parsed.ok) throw new KubeError('BadRequest', `cannot read the selector ${labelSelector}`);
    return ({ metadata }: Stored): boolean => matches(parsed.selector, metadata.labels ?? {});
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

  const find = <T extends KubeObject>({ plural }: Resource<T>, ref: ObjectRef): T & Stored => {
    const found = table(plural, ref.namespace).get(ref.name);
    if (!found) throw new KubeError('NotFound', `${plural} ${ref.name} is not there`, { status: 404 });
    return found as T & Stored;
  };
  const conflict = (what: string): KubeError => new KubeError('Conflict', what, { status: 409 });

  /** Strategic, as far as the controller needs it: conditions are merged by their type. */
  const merge = <T extends Conditioned>(held: T, { status }: Conditioned): T => {
    const conditions = status?.conditions ?? [];
    const others = (held.status?.conditions ?? []).filter(({ type }) => !conditions.some((each) => each.type === type));
    return { ...held, status: { ...held.status, ...status, conditions: [...others, ...conditions] } };
  };

  /** As a client has them from its connection. */
  async function* received(events: readonly WatchEvent<Stored>[]) {
    // At once, because to begin and to end what is free takes as long as to read an event.
    const lines = clock.free(() => events.map((event) => JSON.stringify(event)));
    let read = 0;
    for (const line of lines) {
      read += line.length;
      if (read > READ_BYTES) {
        read = line.length;
        await sleep(clock, 0);
      }
      yield JSON.parse(line) as WatchEvent<Stored>;
    }
  }

  async function* open(plural: string, { namespace, labelSelector, sendInitialEvents, signal }: WatchOptions) {
    const wants = selects(labelSelector);
    let queue: WatchEvent<Stored>[] = sendInitialEvents
      ? clock.free(() =>
          objects(plural, namespace)
            .filter(wants)
            .map((object) => ({ type: 'ADDED', object })),
        )
      : [];
    if (sendInitialEvents) queue.push({ type: 'BOOKMARK', resourceVersion: String(version), initialEventsEnd: true });
    let wake: (() => void) | undefined;
    const push = (event: WatchEvent<Stored>): void => {
      queue.push(event);
      wake?.();
    };
    const onAbort = (): void => wake?.();
    const own: Watcher = { wants, push };
    const key = collection(plural, namespace);
    const siblings = watchers.get(key) ?? new Set();
    watchers.set(key, siblings.add(own));
    let ended = false;
    const end = clock.timer(STREAM_ENDS_MS, () => {
      ended = true;
      wake?.();
    });
    let bookmarks = clock.timer(BOOKMARK_EVERY_MS, bookmark);
    function bookmark(): void {
      deliver(push, { type: 'BOOKMARK', resourceVersion: String(version), initialEventsEnd: false });
      bookmarks = clock.timer(BOOKMARK_EVERY_MS, bookmark);
    }
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      for (;;) {
        const ready = queue;
        queue = [];
        yield* copies ? received(ready) : ready;
        if (signal?.aborted) throw signal.reason;
        if (queue.length > 0) continue;
        if (ended) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      bookmarks.cancel();
      end.cancel();
      siblings.delete(own);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  const client: KubeClient = {
    server: 'memory:',
    get: <T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: CallOptions) =>
      call(options, () => find(resource, ref) as T),
    list: <T extends KubeObject>(resource: Resource<T>, options?: ListOptions) =>
      call(options, () => {
        const items = objects(resource.plural, options?.namespace).filter(selects(options?.labelSelector)) as T[];
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
    patch: <T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, body: unknown, options: PatchOptions) =>
      call(options, () => {
        wrote('patch', resource.plural);
        const patch = body as T & Stored & Conditioned;
        if (resource.plural === EVENTS) return patch;
        const held = find(resource, ref);
        if (held.metadata.resourceVersion !== patch.metadata.resourceVersion) throw conflict(`${ref.name} has changed`);
        return commit('MODIFIED', resource.plural, merge<T & Stored & Conditioned>(held, patch) as T);
      }),
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
        return left;
      }),
    watch: <T extends KubeObject>(resource: Resource<T>, options: WatchOptions = {}) =>
      open(resource.plural, options) as AsyncIterable<WatchEvent<T>>,
    raw: () => Promise.resolve('ok'),
    close: () => Promise.resolve(),
  };

  return { client, commit, find, writes: writes as ReadonlyMap<string, number> };
};
export type MemoryApi = ReturnType<typeof createMemoryApi>;
