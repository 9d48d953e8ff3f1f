import type { DeleteOptions } from '../../../kube/index.ts';
import type { StoredObject } from '../../types.ts';
import type { Kind } from '../kinds/index.ts';
import { badRequest, conflict, invalid, notFound } from '../refusal.ts';
import { keyOf } from '../store/index.ts';
import { notSupported } from '../strategy/index.ts';
import { equal, type Json, without } from '../value/index.ts';
import { checkPolicies } from './admission-policies.ts';
import { type Core, type Ref, timeText, viewOf } from './core.ts';
import { metaOf } from './meta.ts';

export interface DeleteContext
  extends Pick<DeleteOptions, 'preconditions' | 'gracePeriodSeconds' | 'propagationPolicy'> {
  dryRun?: boolean | undefined;
  /** The older way to ask for Orphan. */
  orphanDependents?: boolean | undefined;
}

export interface Deleted {
  /** The object as the deletion left it, or as it was last. */
  readonly object: StoredObject;
  /** False: it is still there, and going. */
  readonly gone: boolean;
}

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

export const removeObject = (
  core: Core,
  kind: Kind,
  key: string,
  make: (resourceVersion: string) => StoredObject,
): StoredObject => {
  const removed = core.store.remove(kind.table, key, make);
  core.afterDelete(kind, removed);
  return removed;
};

const checkPreconditions = (kind: Kind, { metadata }: StoredObject, context: DeleteContext): void => {
  const { uid, resourceVersion } = context.preconditions ?? {};
  // A deletion's precondition is refused in the name of the kind, not of the resource.
  const refuse = (why: string): never => {
    throw conflict({ ...kind, plural: kind.kind }, metadata.name, why);
  };
  const differs = (what: string, wanted: string, present: string): string =>
    `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${present}). ` +
    'The object might have been ';
  if (uid !== undefined && uid !== metadata.uid)
    refuse(`${differs('UID', uid, metadata.uid)}deleted and then recreated`);
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    refuse(`${differs('ResourceVersion', resourceVersion, metadata.resourceVersion)}modified`);
};

const POLICIES = ['Orphan', 'Background', 'Foreground'];

/** The finalizers that the garbage collector acts on, as the request asks for them. */
const finalizersFor = (object: StoredObject, kind: Kind, context: DeleteContext): readonly string[] => {
  const present = object.metadata.finalizers ?? [];
  const { propagationPolicy, orphanDependents } = context;
  const keep = propagationPolicy === undefined && orphanDependents === undefined;
  const orphan = keep
    ? present.includes(ORPHAN) || (kind.strategy.orphans === true && !present.includes(FOREGROUND))
    : propagationPolicy === 'Orphan' || orphanDependents === true;
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

/** How the deletion begins for kinds whose objects are ended by somebody else: pods, by their kubelet. */
const gracefully = (core: Core, kind: Kind, object: StoredObject, context: DeleteContext): Step => {
  const { grace } = kind.strategy;
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = object.metadata;
  const asked = context.gracePeriodSeconds;
  if (deletionTimestamp !== undefined) {
    // Once begun, a deletion can only be hastened.
    if (asked === undefined || !grace || deletionGracePeriodSeconds === 0) return { next: 'nothing' };
    const seconds = Math.max(asked, 0);
    if (seconds >= deletionGracePeriodSeconds) return { next: 'nothing' };
    const at = Date.parse(deletionTimestamp) + (seconds - deletionGracePeriodSeconds) * SECOND;
    const changes = { deletionTimestamp: timeText(at), deletionGracePeriodSeconds: seconds };
    return { next: 'mark', object: withMeta(object, changes), grace: seconds };
  }
  if (!grace) return { next: 'remove' };
  const seconds = grace(object, asked);
  const changes = {
    ...bumped(object),
    deletionTimestamp: timeText(core.clock.now() + seconds * SECOND),
    deletionGracePeriodSeconds: seconds,
  };
  return { next: 'mark', object: withMeta(object, changes), grace: seconds };
};

const marked = (core: Core, object: StoredObject): StoredObject =>
  object.metadata.deletionTimestamp === undefined
    ? withMeta(object, {
        ...bumped(object),
        deletionTimestamp: timeText(core.clock.now()),
        deletionGracePeriodSeconds: 0,
      })
    : withMeta(object, { deletionGracePeriodSeconds: 0 });

export const deleteObject = (core: Core, kind: Kind, ref: Ref, context: DeleteContext = {}): Deleted => {
  const key = keyOf(kind.namespaced ? ref.namespace : undefined, ref.name);
  const stored = core.store.get(kind.table, key);
  if (!stored) throw notFound(kind, ref.name);
  const { propagationPolicy } = context;
  if (propagationPolicy !== undefined && context.orphanDependents !== undefined)
    throw badRequest('orphanDependents and deletionPropagation cannot be both set');
  if (propagationPolicy !== undefined && !POLICIES.includes(propagationPolicy))
    throw invalid({ group: 'meta.k8s.io', plural: '', kind: 'DeleteOptions' }, '', [
      notSupported('propagationPolicy', propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']),
    ]);
  checkPreconditions(kind, stored, context);
  checkPolicies(core, kind, {
    operation: 'DELETE',
    namespace: ref.namespace,
    name: ref.name,
    oldObject: viewOf(kind, stored),
  });

  const step = gracefully(core, kind, stored, context);
  const wanted = finalizersFor(stored, kind, context);
  const present = stored.metadata.finalizers ?? [];
  let next = withMeta(step.next === 'mark' ? step.object : stored, { finalizers: wanted });
  if (kind.strategy.onDelete) next = kind.strategy.onDelete(next) as StoredObject;
  const held = wanted.length > 0 || (kind.strategy.held?.(next) ?? false);
  if (step.next === 'nothing' && (kind.strategy.grace || equal(wanted, present)) && held)
    return { object: viewOf(kind, stored), gone: false };
  if (step.next === 'nothing' && kind.strategy.grace && (stored.metadata.deletionGracePeriodSeconds ?? 0) > 0)
    return { object: viewOf(kind, stored), gone: false };
  if (step.next !== 'mark' && held) next = marked(core, next);
  if (context.dryRun) return { object: viewOf(kind, next), gone: !held && step.next !== 'mark' };

  let last = stored;
  if (step.next === 'mark' || held)
    last = core.store.put(
      kind.table,
      key,
      (resourceVersion) => ({ ...next, metadata: { ...metaOf(next), resourceVersion } }) as StoredObject,
    );
  if (held || (step.next === 'mark' && step.grace > 0)) return { object: viewOf(kind, last), gone: false };
  const removed = removeObject(core, kind, key, (resourceVersion) => ({
    ...last,
    metadata: { ...last.metadata, resourceVersion },
  }));
  return { object: viewOf(kind, removed), gone: true };
};
