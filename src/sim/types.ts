// Callers say which shape of a kind's object they work with: stored ones have metadata that the API's types leave open.
/* oxlint-disable typescript/no-unnecessary-type-parameters */
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import type { DeleteOptions, ListOptions, PatchOptions, Resource, WriteOptions } from '../kube/index.ts';

/** Any object as it is stored. Stored objects are never changed in place: whoever wants another one makes a copy. */
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

/** One change, in the order of commits. `previous` is absent for ADDED. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resource: Resource;
  readonly object: StoredObject;
  readonly previous?: StoredObject;
}

/**
 * The embedded API server as its own controllers and kubelets call it: the same rules as over HTTP (admission,
 * defaults, validation, preconditions, generation, finalizers), synchronous, without copies. Refusals are thrown as
 * `KubeError` with the code, status and message that a real API server would answer with.
 */
export interface ApiServer {
  get<T>(resource: Resource, ref: { namespace?: string; name: string }): T;
  /** Undefined instead of NotFound. */
  find<T>(resource: Resource, ref: { namespace?: string; name: string }): T | undefined;
  list<T>(
    resource: Resource,
    options?: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>,
  ): readonly T[];
  create<T>(resource: Resource, object: T, options?: WriteOptions): T;
  update<T>(resource: Resource, object: T, options?: WriteOptions & { subresource?: string }): T;
  patch<T>(resource: Resource, ref: { namespace?: string; name: string }, body: unknown, options: PatchOptions): T;
  delete<T>(resource: Resource, ref: { namespace?: string; name: string }, options?: DeleteOptions): T | undefined;
  /** Called right after each commit, in order, before the write returns. Returns how to end it. */
  subscribe(handler: (change: Change) => void): () => void;
  /** The newest resourceVersion. */
  readonly resourceVersion: number;
}
