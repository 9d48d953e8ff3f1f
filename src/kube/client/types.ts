import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';

/** The fields that every Kubernetes object has. Objects read from a server always have metadata. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
}

/** The address of one kind of object on the API server. Create it with `defineResource`, which adds the object's type. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Lower-case plural, as in the URL. */
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Only the metadata of its objects is read: see `metadataOf`. */
  readonly metadataOnly?: true;
  /** Never set: it only carries the object's type. */
  readonly object?: T;
}

export interface ObjectRef {
  /** Required for namespaced resources. */
  namespace?: string;
  name: string;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Until the complete response has been read. Default 30 s. Does not apply to watches. */
  timeoutMs?: number;
  /**
   * Asked before each further attempt (see `maxRetries`); false ends the call with the last failure. For writes that follow
   * from a decision: meanwhile it may have to be another one. Default: always true.
   */
  mayRepeat?: () => boolean;
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
  /** Whether fields that the API server does not know are refused. Default: they are dropped. */
  fieldValidation?: 'Strict';
}

export interface CreateOptions extends WriteOptions {
  /** The serialized object, where its bytes matter. It must be equivalent to `object`. */
  json?: string;
}

export type PatchType = 'merge' | 'strategic' | 'json' | 'apply';

export interface PatchOptions extends WriteOptions {
  type: PatchType;
  subresource?: string;
  /** Server-side apply only: take over fields of other field managers. */
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
  /** Stream the current state first (WatchList), ended by a bookmark annotated with `k8s.io/initial-events-end`. */
  sendInitialEvents?: boolean;
  /** When the server ends the stream. Default: randomly after 5 to 10 minutes. */
  timeoutSeconds?: number;
  /** Called when the server has accepted the watch, possibly long before the first event. Must not throw. */
  onOpen?: () => void;
}

export type WatchEvent<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  | { type: 'BOOKMARK'; resourceVersion: string; initialEventsEnd: boolean };

/**
 * A client of one API server. Every method rejects with a `KubeError` (see errors.ts), or with the signal's reason when
 * its signal aborts.
 */
export interface KubeClient {
  /** For logs and metrics; contains no credentials. */
  readonly server: string;
  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: CallOptions): Promise<T>;
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<ListResult<T>>;
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: CreateOptions): Promise<T>;
  /** PUT of the whole object, with its `metadata.resourceVersion`, if set, as the precondition. */
  replace<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options?: WriteOptions & { subresource?: string },
  ): Promise<T>;
  patch<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, body: unknown, options: PatchOptions): Promise<T>;
  /** Resolves with the object in its last state (terminating), or undefined when the server returned only a Status. */
  delete<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: DeleteOptions): Promise<T | undefined>;
  /** Ends when the server ends the stream. Throws a `KubeError` on an ERROR event, a malformed line, a reset or a stall. */
  watch<T extends KubeObject>(resource: Resource<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /** GET of a raw path such as `/readyz`; the body as text. */
  raw(path: string, options?: CallOptions): Promise<string>;
  close(): Promise<void>;
}

/** An object that a cache or one of its handlers could not take in: what they have of it may be out of date, or missing. */
export interface CacheFailure {
  /** As in the store; empty: no single object. */
  key: string;
  /** As the API server sent it; undefined where only a handler failed. */
  object: KubeObject | undefined;
  error: unknown;
}

/**
 * Receives the changes of a reflector. When one throws, the others are called all the same, and the object is among the
 * reflector's `failures` until it is delivered again without an error.
 */
export interface ReflectorHandler<P> {
  /** `previous` is the value in the store before; undefined for a new key. */
  upsert?(key: string, value: P, previous: P | undefined): void;
  remove?(key: string, previous: P): void;
  /** Called after each list or relist has been applied and delivered, including missed deletes. */
  synced?(): void;
  /** The reflector's `failures` have changed. */
  failuresChanged?(): void;
}

/** The read side of a reflector's cache. Keys are `namespace/name`, or `name` for cluster-scoped objects. */
export interface Store<P> {
  get(key: string): P | undefined;
  /** Values under `value` in the named index. Throws for an unknown index. */
  byIndex(index: string, value: string): readonly P[];
  values(): IterableIterator<P>;
  entries(): IterableIterator<[string, P]>;
  readonly size: number;
}
