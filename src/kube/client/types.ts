import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';

/** The least that every Kubernetes object has. Objects read from a server always carry the named metadata. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
}

/** Addresses one kind of object on the API server. Create with `defineResource`, which ties it to its object type. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Lower-case plural, as in the URL. */
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never set: carries the object's type. */
  readonly object?: T;
}

export interface ObjectRef {
  /** Required for namespaced resources. */
  namespace?: string;
  name: string;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Until the whole answer is read. Default 30 s. Not applied to watches. */
  timeoutMs?: number;
}

export interface ListOptions extends CallOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  limit?: number;
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface ListResult<T> {
  items: T[];
  resourceVersion: string;
  /** Set when more pages follow. */
  continue?: string;
}

export interface WriteOptions extends CallOptions {
  fieldManager?: string;
  dryRun?: boolean;
}

export interface CreateOptions extends WriteOptions {
  /** The object's JSON as it is sent, for servers that keep a part of it byte by byte. It must say what `object` says. */
  json?: string;
}

export type PatchType = 'merge' | 'strategic' | 'json' | 'apply';

export interface PatchOptions extends WriteOptions {
  type: PatchType;
  subresource?: string;
  /** Server-side apply only: take over fields of other managers. */
  force?: boolean;
}

export interface DeleteOptions extends CallOptions {
  preconditions?: { uid?: string; resourceVersion?: string };
  gracePeriodSeconds?: number;
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
}

export interface WatchOptions {
  signal?: AbortSignal;
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  /** Streams the present state first (watch-list), ended by a bookmark that carries `k8s.io/initial-events-end`. */
  sendInitialEvents?: boolean;
  /** Server-side end of the stream. Default: a random 5 to 10 minutes. */
  timeoutSeconds?: number;
  /** Called when the server has taken the watch, which may be long before the first event. Must not throw. */
  onOpen?: () => void;
}

export type WatchEvent<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  | { type: 'BOOKMARK'; resourceVersion: string; initialEventsEnd: boolean };

/**
 * A connection to one API server. Every method rejects with a `KubeError` (see errors.ts), or with the signal's reason
 * when its own signal aborts.
 */
export interface KubeClient {
  /** For logs and metrics; holds no credentials. */
  readonly server: string;
  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: CallOptions): Promise<T>;
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<ListResult<T>>;
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: CreateOptions): Promise<T>;
  /** PUT of the whole object; its `metadata.resourceVersion`, when present, is the precondition. */
  replace<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options?: WriteOptions & { subresource?: string },
  ): Promise<T>;
  patch<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, body: unknown, options: PatchOptions): Promise<T>;
  /** Resolves with the object as the server left it (terminating), or undefined when it answered with a bare Status. */
  delete<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: DeleteOptions): Promise<T | undefined>;
  /** Ends when the server ends the stream; throws a `KubeError` on an ERROR event, a broken line, a reset or a stall. */
  watch<T extends KubeObject>(resource: Resource<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /** GET of a raw path such as `/readyz`; the body as text. */
  raw(path: string, options?: CallOptions): Promise<string>;
  close(): Promise<void>;
}

/** What a reflector's owner is told. Handlers must not throw; one that does is logged and isolated from the others. */
export interface ReflectorHandler<P> {
  /** `previous` is what the store held before; undefined for a new key. */
  upsert?(key: string, value: P, previous: P | undefined): void;
  remove?(key: string, previous: P): void;
  /** After each consistent snapshot (initial list or relist) has been applied and its missed deletes were delivered. */
  synced?(): void;
}

/** Read side of a reflector's cache. Keys are `namespace/name`, or `name` for cluster-scoped objects. */
export interface Store<P> {
  get(key: string): P | undefined;
  /** Values filed under `value` in the named index. An unknown index name throws. */
  byIndex(index: string, value: string): readonly P[];
  values(): IterableIterator<P>;
  entries(): IterableIterator<[string, P]>;
  readonly size: number;
}
