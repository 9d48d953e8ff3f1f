import type { DeleteOptions } from '../../../kube/index.ts';
import type { StoredObject } from '../../types.ts';
import { badRequest, conflict, invalid, notFound, notSupported } from '../errors.ts';
import { equal, type Json, without } from '../json.ts';
import type { Kind } from '../registry/kind.ts';
import { keyOf } from '../storage/store.ts';
import { admit } from './admission.ts';
import { metaOf } from './metadata.ts';
import { formatTime, fromStorageVersion, type Ref, type ServerState } from './state.ts';

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
  readonly gone: boolean;
}

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

export const removeObject = (
  state: ServerState,
  kind: Kind,
  key: string,
  make: (resourceVersion: string) => StoredObject,
): StoredObject => {
  const removed = state.store.remove(kind.collection, key, make);
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

const bumped = (object: StoredObject): Json => {
  const { generation } = object.metadata;
  return generation === undefined || generation === 0 ? {} : { generation: generation + 1 };
};

const SECOND = 1000;

type Step = { next: 'nothing' } | { next: 'mark'; object: StoredObject; grace: number } | { next: 'remove' };

/** The start of a graceful deletion, as for pods, which their kubelet finishes. */
const gracefully = (state: ServerState, kind: Kind, object: StoredObject, context: DeleteContext): Step => {
  const { gracePeriodSeconds } = kind.strategy;
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = object.metadata;
  const asked = context.gracePeriodSeconds;
  if (deletionTimestamp !== undefined) {
    // A grace period can only be shortened.
    if (asked === undefined || !gracePeriodSeconds || deletionGracePeriodSeconds === 0) return { next: 'nothing' };
    const seconds = Math.max(asked, 0);
    if (seconds >= deletionGracePeriodSeconds) return { next: 'nothing' };
    const at = Date.parse(deletionTimestamp) + (seconds - deletionGracePeriodSeconds) * SECOND;
    const changes = { deletionTimestamp: formatTime(at), deletionGracePeriodSeconds: seconds };
    return { next: 'mark', object: withMeta(object, changes), grace: seconds };
  }
  if (!gracePeriodSeconds) return { next: 'remove' };
  const seconds = gracePeriodSeconds(object, asked);
  const changes = {
    ...bumped(object),
    deletionTimestamp: formatTime(state.clock.now() + seconds * SECOND),
    deletionGracePeriodSeconds: seconds,
  };
  return { next: 'mark', object: withMeta(object, changes), grace: seconds };
};

const marked = (state: ServerState, object: StoredObject): StoredObject =>
  object.metadata.deletionTimestamp === undefined
    ? withMeta(object, {
        ...bumped(object),
        deletionTimestamp: formatTime(state.clock.now()),
        deletionGracePeriodSeconds: 0,
      })
    : withMeta(object, { deletionGracePeriodSeconds: 0 });

export const deleteObject = (state: ServerState, kind: Kind, ref: Ref, context: DeleteContext = {}): DeleteResult => {
  const key = keyOf(kind.namespaced ? ref.namespace : undefined, ref.name);
  const stored = state.store.get(kind.collection, key);
  if (!stored) throw notFound(kind, ref.name);
  const { propagationPolicy } = context;
  if (propagationPolicy !== undefined && context.orphanDependents !== undefined)
    throw badRequest('orphanDependents and deletionPropagation cannot be both set');
  if (propagationPolicy !== undefined && !POLICIES.includes(propagationPolicy))
    throw invalid({ group: 'meta.k8s.io', plural: '', kind: 'DeleteOptions' }, '', [
      notSupported('propagationPolicy', propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']),
    ]);
  checkPreconditions(kind, stored, context);
  admit(state, kind, {
    operation: 'DELETE',
    namespace: ref.namespace,
    name: ref.name,
    oldObject: fromStorageVersion(kind, stored),
  });

  const step = gracefully(state, kind, stored, context);
  const wanted = finalizersFor(stored, context);
  const present = stored.metadata.finalizers ?? [];
  let next = withMeta(step.next === 'mark' ? step.object : stored, { finalizers: wanted });
  if (kind.strategy.prepareForDelete) next = kind.strategy.prepareForDelete(next) as StoredObject;
  const held = wanted.length > 0 || (kind.strategy.hasFinalizers?.(next) ?? false);
  if (step.next === 'nothing' && (kind.strategy.gracePeriodSeconds || equal(wanted, present)) && held)
    return { object: fromStorageVersion(kind, stored), gone: false };
  if (
    step.next === 'nothing' &&
    kind.strategy.gracePeriodSeconds &&
    (stored.metadata.deletionGracePeriodSeconds ?? 0) > 0
  )
    return { object: fromStorageVersion(kind, stored), gone: false };
  if (step.next !== 'mark' && held) next = marked(state, next);
  if (context.dryRun) return { object: fromStorageVersion(kind, next), gone: !held && step.next !== 'mark' };

  let last = stored;
  if (step.next === 'mark' || held)
    last = state.store.put(
      kind.collection,
      key,
      (resourceVersion) => ({ ...next, metadata: { ...metaOf(next), resourceVersion } }) as StoredObject,
    );
  if (held || (step.next === 'mark' && step.grace > 0)) return { object: fromStorageVersion(kind, last), gone: false };
  const removed = removeObject(state, kind, key, (resourceVersion) => ({
    ...last,
    metadata: { ...last.metadata, resourceVersion },
  }));
  return { object: fromStorageVersion(kind, removed), gone: true };
};
