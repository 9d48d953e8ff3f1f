import type { ConfigMap } from 'kubernetes-types/core/v1.d.ts';
import { KubeError } from '../client/errors.ts';
import { defineResource } from '../client/resource.ts';
import type { KubeClient, KubeObject, ListOptions, Resource, WatchEvent, WatchOptions } from '../client/types.ts';

export const configMaps = defineResource<ConfigMap>({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
});

type Event = WatchEvent<ConfigMap>;

/** One kind of object in memory, with the list and watch of an API server and the faults that a test asks for. */
export interface FakeApi {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly objects: ReadonlyMap<string, ConfigMap>;
  readonly version: number;
  /** `list`, `list +` for a further page, `watch`, `watch list`. */
  readonly calls: string[];
  /** Makes a call fail, or stand aside with undefined. Asked once a call. */
  fault: (call: 'list' | 'watch', options: ListOptions & WatchOptions) => Error | undefined;
  /** Events that a stream gets in place of the true ones; undefined for the truth. */
  script: ((options: WatchOptions) => AsyncIterable<Event> | undefined) | undefined;
  /** `delivered`: false where no watch tells of it. */
  put(name: string, text: string, delivered?: boolean): ConfigMap;
  remove(name: string): void;
  /** Ends all streams, with an error if one is given. */
  cut(error?: Error): void;
  bookmark(): void;
  /** Watches from before now get 410. */
  forgetHistory(): void;
  readonly openStreams: number;
}

export const createFakeApi = (): FakeApi => {
  const objects = new Map<string, ConfigMap>();
  let history: { version: number; event: Event }[] = [];
  let compacted = 0;
  let version = 100;
  let incarnations = 0;
  const calls: string[] = [];
  const streams = new Set<{ push(event: Event): void; end(error?: Error): void }>();

  const record = (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: ConfigMap): void => {
    const event: Event = { type, object };
    history.push({ version, event });
    for (const stream of streams) stream.push(event);
  };

  const stamp = (object: ConfigMap): ConfigMap => {
    version += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
  };

  async function* watch(options: WatchOptions): AsyncGenerator<Event, void, undefined> {
    calls.push(options.sendInitialEvents ? 'watch list' : 'watch');
    const fault = api.fault('watch', options);
    if (fault) throw fault;
    const scripted = api.script?.(options);
    if (scripted) {
      yield* scripted;
      return;
    }
    const from = Number(options.resourceVersion ?? version);
    if (!options.sendInitialEvents && from < compacted) throw new KubeError('Gone', 'too old', { status: 410 });
    const queue: Event[] = [];
    if (options.sendInitialEvents) {
      for (const object of objects.values()) queue.push({ type: 'ADDED', object });
      queue.push({ type: 'BOOKMARK', resourceVersion: String(version), initialEventsEnd: true });
    } else for (const past of history) if (past.version > from) queue.push(past.event);
    let over: { error?: Error } | undefined;
    let wake: (() => void) | undefined;
    const stream = {
      push: (event: Event): void => {
        queue.push(event);
        wake?.();
      },
      end: (error?: Error): void => {
        over = error ? { error } : {};
        wake?.();
      },
    };
    const onAbort = (): void => stream.end(new Error('aborted', { cause: options.signal?.reason }));
    options.signal?.addEventListener('abort', onAbort, { once: true });
    if (options.signal?.aborted) onAbort();
    streams.add(stream);
    try {
      for (;;) {
        const event = queue.shift();
        if (event) yield event;
        else if (over) {
          if (over.error) throw over.error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      streams.delete(stream);
      options.signal?.removeEventListener('abort', onAbort);
    }
  }

  const api: FakeApi = {
    client: {
      // This server holds one kind: whatever is asked for, these are its objects.
      async list<T extends KubeObject>(_resource: Resource<T>, options: ListOptions = {}) {
        calls.push(options.continue === undefined ? 'list' : 'list +');
        const fault = api.fault('list', options);
        if (fault) throw fault;
        const [snapshot, start] = options.continue?.split(':') ?? [String(version), '0'];
        const all = [...objects.values()];
        const from = Number(start);
        const to = from + (options.limit ?? all.length);
        return {
          items: all.slice(from, to) as unknown as T[],
          resourceVersion: snapshot ?? '',
          ...(to < all.length ? { continue: `${snapshot}:${to}` } : {}),
        };
      },
      watch: <T extends KubeObject>(_resource: Resource<T>, options: WatchOptions = {}) =>
        watch(options) as unknown as AsyncIterable<WatchEvent<T>>,
    },
    objects,
    get version() {
      return version;
    },
    calls,
    fault: () => undefined,
    script: undefined,
    put(name, text, delivered = true) {
      const known = objects.get(name);
      if (known === undefined) incarnations += 1;
      const uid = known?.metadata?.uid ?? `uid-${incarnations}`;
      const object = stamp({ metadata: { name, namespace: 'a', uid }, data: { text } });
      objects.set(name, object);
      if (delivered) record(known === undefined ? 'ADDED' : 'MODIFIED', object);
      return object;
    },
    remove(name) {
      const known = objects.get(name);
      if (known === undefined) return;
      objects.delete(name);
      record('DELETED', stamp(known));
    },
    cut(error) {
      for (const stream of streams) stream.end(error);
    },
    bookmark() {
      version += 1;
      for (const stream of streams)
        stream.push({ type: 'BOOKMARK', resourceVersion: String(version), initialEventsEnd: false });
    },
    forgetHistory() {
      history = [];
      version += 1;
      compacted = version;
    },
    get openStreams() {
      return streams.size;
    },
  };
  return api;
};
