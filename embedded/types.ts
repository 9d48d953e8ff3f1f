// Callers choose the type of the objects: stored ones have metadata that the generated types leave optional.
/* oxlint-disable typescript/no-unnecessary-type-parameters */
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import type { DeleteOptions, ListOptions, PatchOptions, Resource, WriteOptions } from '../src/kube/index.ts';

/** A stored object. Stored objects are immutable: updates store a copy. */
export interface StoredObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<ObjectMeta> & {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly [field: string]: unknown;
}

/** One change, in commit order. `previous` is absent for ADDED. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resource: Resource;
  readonly object: StoredObject;
  readonly previous?: StoredObject;
}

/**
 * The embedded API server for in-process callers, such as its controllers and kubelets: the same rules as over HTTP
 * (admission, defaulting, validation, preconditions, generation, finalizers), synchronous, without copies. Throws
 * `KubeError`s with the code, status and message of a real API server.
 */
export interface ApiServer {
  get<T>(resource: Resource, ref: { namespace?: string; name: string }): T;
  /** Returns undefined instead of throwing NotFound. */
  find<T>(resource: Resource, ref: { namespace?: string; name: string }): T | undefined;
  list<T>(
    resource: Resource,
    options?: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>,
  ): readonly T[];
  create<T>(resource: Resource, object: T, options?: WriteOptions): T;
  update<T>(resource: Resource, object: T, options?: WriteOptions & { subresource?: string }): T;
  patch<T>(resource: Resource, ref: { namespace?: string; name: string }, body: unknown, options: PatchOptions): T;
  delete<T>(resource: Resource, ref: { namespace?: string; name: string }, options?: DeleteOptions): T | undefined;
  /** Called after each commit, in order, before the write returns. Returns how to unsubscribe. */
  subscribe(handler: (change: Change) => void): () => void;
  /** The newest resourceVersion. */
  readonly resourceVersion: number;
}
