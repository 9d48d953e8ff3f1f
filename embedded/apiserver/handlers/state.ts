import type { PatchOptions } from '../../../src/kube/index.ts';
import type { Clock } from '../../../src/runtime/index.ts';
import type { StoredObject } from '../../types.ts';
import { notFound, unexplained } from '../errors.ts';
import type { Json } from '../json.ts';
import type { ManagedFieldsEntry } from '../patch/managed-fields.ts';
import type { Kind, StrategyContext } from '../registry/kind.ts';
import type { Registry } from '../registry/registry.ts';
import type { PodIndex } from '../storage/pod-index.ts';
import type { SnapshotCache } from '../storage/snapshots.ts';
import { keyOf, type ObjectStore } from '../storage/store.ts';
import type { TokenStore } from '../storage/tokens.ts';
import type { WatchBroadcaster } from '../storage/watch-broadcaster.ts';

/** The state that all handlers share. */
export interface ServerState {
  readonly store: ObjectStore;
  readonly registry: Registry;
  readonly strategyContext: StrategyContext;
  readonly clock: Clock;
  readonly random: () => number;
  readonly pods: PodIndex;
  readonly watches: WatchBroadcaster;
  readonly snapshots: SnapshotCache;
  readonly tokens: TokenStore;
  /** What the server's own controllers do after a write; synchronous, so that nobody has to wait for it. */
  afterWrite(kind: Kind, object: StoredObject): void;
  afterDelete(kind: Kind, object: StoredObject): void;
}

export interface Ref {
  namespace?: string | undefined;
  name: string;
}

export interface WriteContext {
  /** The writer; without a name, field ownership isn't tracked. */
  fieldManager?: string | undefined;
  dryRun?: boolean | undefined;
  subresource?: string | undefined;
  /** Whether the request was so large that what it makes may be too large for etcd. */
  isLarge?: boolean | undefined;
  /** Called with each warning for the writer. */
  warn?: ((text: string) => void) | undefined;
  /** The managedFields of a new object that is applied. */
  managers?: readonly ManagedFieldsEntry[];
}

export interface PatchContext extends Omit<WriteContext, 'managers'>, Pick<PatchOptions, 'type' | 'force'> {
  /** Called with the patched object or applied configuration before it is decoded. */
  inspect?: (object: Json) => void;
}

export interface PatchResult {
  readonly object: StoredObject;
  readonly created: boolean;
}

/** The key of an object in its collection. A namespace of a cluster-scoped object is ignored. */
export const keyFor = (kind: Kind, { namespace, name }: Ref): string =>
  keyOf(kind.namespaced ? namespace : undefined, name);

/** The object as it is stored; throws NotFound. */
export const storedObject = (state: ServerState, kind: Kind, ref: Ref): StoredObject => {
  const found = state.store.get(kind.collection, keyFor(kind, ref));
  if (!found) throw notFound(kind, ref.name);
  return found;
};

const MOST_STORED_BYTES = 1.5 * 1024 * 1024;

/** Refuses what etcd does not store. The JSON of an object is about as long as what Kubernetes writes. */
export const checkStoredSize = (object: Json): void => {
  if (Buffer.byteLength(JSON.stringify(object)) > MOST_STORED_BYTES)
    throw unexplained('etcdserver: request is too large');
};

export const fromStorageVersion = (kind: Kind, object: StoredObject): StoredObject =>
  kind.fromStorageVersion ? (kind.fromStorageVersion(object) as StoredObject) : object;

export const toStorageVersion = (kind: Kind, object: Json): Json =>
  kind.toStorageVersion ? kind.toStorageVersion(object) : object;
