import type { DeleteOptions } from '../../../src/kube/index.ts';
import { toTime } from '../../resources.ts';
import type { StoredObject } from '../../types.ts';
import { conflict, invalid, invalidValue, notSupported, type StatusCause } from '../errors.ts';
import { equal, type Json, without } from '../json.ts';
import type { Kind } from '../registry/kind.ts';
import { withVersion } from '../storage/store.ts';
import { admit } from './admission.ts';
import { fromStorageVersion, keyFor, type Ref, type ServerState, storedObject } from './state.ts';

export interface DeleteContext
  extends Pick<DeleteOptions, 'preconditions' | 'gracePeriodSeconds' | 'propagationPolicy'> {
  dryRun?: boolean | undefined;
  /** Deprecated form of propagationPolicy Orphan. */
  orphanDependents?: boolean | undefined;
}

export interface DeleteResult {
  /** The object as the deletion left it, or its last state. */
  readonly object: StoredObject;
  /** False if it still exists and is terminating. */
  readonly removed: boolean;
}

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

export const removeObject = (state: ServerState, kind: Kind, key: string, last: StoredObject): StoredObject => {
  const removed = state.store.remove(kind.collection, key, withVersion(last));
  state.afterDelete(kind, removed);
  return removed;
};

const checkPreconditions = (kind: Kind, { metadata }: StoredObject, context: DeleteContext): void => {
  const { uid, resourceVersion } = context.preconditions ?? {};
  // The real server names the kind here, not the resource.
  const reject = (why: string): never => {
    throw conflict({ ...kind, plural: kind.kind }, metadata.name, why);
  };
  const differs = (what: string, wanted: string, present: string): string =>
    `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${present}). ` +
    'The object might have been ';
  if (uid !== undefined && uid !== metadata.uid)
    reject(`${differs('UID', uid, metadata.uid)}deleted and then recreated`);
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    reject(`${differs('ResourceVersion', resourceVersion, metadata.resourceVersion)}modified`);
};

const POLICIES = ['Orphan', 'Background', 'Foreground'];

/** The object's finalizers, including those that the requested propagation policy adds. */
const finalizersFor = (object: StoredObject, context: DeleteContext): readonly string[] => {
  const present = object.metadata.finalizers ?? [];
  const { propagationPolicy, orphanDependents } = context;
  const keep = propagationPolicy === undefined && orphanDependents === undefined;
  const orphan = keep ? present.includes(ORPHAN) : propagationPolicy === 'Orphan' || orphanDependents === true;
  const foreground = keep ? present.includes(FOREGROUND) : propagationPolicy === 'Foreground';
  const others = present.filter((each) => each !== ORPHAN && each !== FOREGROUND);
  return [...others, ...(orphan ? [ORPHAN] : []), ...(foreground ? [FOREGROUND] : [])];
};

const withMeta = (object: StoredObject, changes: Json): StoredObject => {
  const metadata = { ...object.metadata, ...changes };
  return {
    ...object,
    metadata: metadata.finalizers?.length === 0 ? without(metadata, 'finalizers') : metadata,
  };
};

const nextGeneration = ({ metadata: { generation } }: StoredObject): Json =>
  generation ? { generation: generation + 1 } : {};

const SECOND = 1000;

interface Marked {
  readonly object: StoredObject;
  /** Whether the object stays until its kubelet finishes, or its grace period ends. */
  readonly graceful: boolean;
}

/** The object with the deletion started or hastened; undefined if the request changes nothing. */
const markGracefully = (
  state: ServerState,
  object: StoredObject,
  gracePeriodSeconds: NonNullable<Kind['strategy']['gracePeriodSeconds']>,
  requested: number | undefined,
): Marked | undefined => {
  const { deletionTimestamp, deletionGracePeriodSeconds: remaining = 0 } = object.metadata;
  if (deletionTimestamp === undefined) {
    const seconds = gracePeriodSeconds(object, requested);
    const time = toTime(state.clock.now() + seconds * SECOND);
    const changes = { ...nextGeneration(object), deletionTimestamp: time, deletionGracePeriodSeconds: seconds };
    return { object: withMeta(object, changes), graceful: seconds > 0 };
  }
  // A grace period can only be shortened.
  const seconds = Math.max(requested ?? remaining, 0);
  if (seconds >= remaining) return undefined;
  const time = toTime(Date.parse(deletionTimestamp) + (seconds - remaining) * SECOND);
  const changes = { deletionTimestamp: time, deletionGracePeriodSeconds: seconds };
  return { object: withMeta(object, changes), graceful: seconds > 0 };
};

const markAtOnce = (state: ServerState, object: StoredObject): StoredObject =>
  withMeta(object, {
    ...(object.metadata.deletionTimestamp === undefined && {
      ...nextGeneration(object),
      deletionTimestamp: toTime(state.clock.now()),
    }),
    deletionGracePeriodSeconds: 0,
  });

const checkOptions = ({ propagationPolicy, orphanDependents }: DeleteContext): void => {
  if (propagationPolicy === undefined) return;
  const refused = (cause: StatusCause): Error =>
    invalid({ group: 'meta.k8s.io', plural: '', kind: 'DeleteOptions' }, '', [cause]);
  if (orphanDependents !== undefined)
    throw refused(
      invalidValue(
        'propagationPolicy',
        propagationPolicy,
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    );
  if (!POLICIES.includes(propagationPolicy))
    throw refused(notSupported('propagationPolicy', propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']));
};

export const deleteObject = (state: ServerState, kind: Kind, ref: Ref, context: DeleteContext = {}): DeleteResult => {
  const { strategy } = kind;
  const key = keyFor(kind, ref);
  const stored = storedObject(state, kind, ref);
  const result = (object: StoredObject, removed: boolean): DeleteResult => ({
    object: fromStorageVersion(kind, object),
    removed,
  });
  checkOptions(context);
  checkPreconditions(kind, stored, context);
  admit(state, kind, {
    operation: 'DELETE',
    namespace: ref.namespace,
    name: ref.name,
    oldObject: fromStorageVersion(kind, stored),
  });

  const isTerminating = stored.metadata.deletionTimestamp !== undefined;
  const marked =
    strategy.gracePeriodSeconds &&
    markGracefully(state, stored, strategy.gracePeriodSeconds, context.gracePeriodSeconds);
  const finalizers = finalizersFor(stored, context);
  let next = withMeta(marked?.object ?? stored, { finalizers });
  if (strategy.prepareForDelete) next = strategy.prepareForDelete(next) as StoredObject;
  const held = finalizers.length > 0 || (strategy.hasFinalizers?.(next) ?? false);
  if (isTerminating && !marked) {
    const unchanged = strategy.gracePeriodSeconds || equal(finalizers, stored.metadata.finalizers ?? []);
    const waits = strategy.gracePeriodSeconds && (stored.metadata.deletionGracePeriodSeconds ?? 0) > 0;
    if ((held && unchanged) || waits) return result(stored, false);
  }
  if (held && !marked) next = markAtOnce(state, next);
  if (context.dryRun) return result(next, !held && !marked);

  const last = held || marked ? state.store.put(kind.collection, key, withVersion(next)) : stored;
  return held || marked?.graceful ? result(last, false) : result(removeObject(state, kind, key, last), true);
};
