import { isOlderVersion } from '../facts/metadata.ts';
import { surges } from '../policy/policy.ts';
import type { Context, NodeRecord, ObservedPod } from './record.ts';
import { isCarriedOut } from './update.ts';

/** Terminating, or deleted by us while the cache is still stale. */
export const isBeingDeleted = ({ update }: NodeRecord, { facts }: ObservedPod): boolean =>
  facts.terminating ||
  (update !== undefined && update.kind === undefined && update.podUid === facts.uid && isCarriedOut(update));

/** The in-place patch was acknowledged, but the cache still shows the pod before it. */
export const isStale = ({ update }: Pick<NodeRecord, 'update'>, { facts }: Pick<ObservedPod, 'facts'>): boolean =>
  update?.kind === 'in-place' &&
  isCarriedOut(update) &&
  update.podUid === facts.uid &&
  isOlderVersion(facts.resourceVersion, update.podResourceVersion);

/** Ready as far as we know, and not taken out of service to be deleted. */
const isServing = (record: NodeRecord, pod: ObservedPod): boolean =>
  pod.facts.ready && !pod.facts.preparingDelete && !isStale(record, pod);

/** The node's one live pod, even while a terminating one runs beside it. */
export const livePod = (record: NodeRecord): ObservedPod | undefined => {
  let found: ObservedPod | undefined;
  for (const pod of record.pods) {
    if (isBeingDeleted(record, pod)) continue;
    if (found) return undefined;
    found = pod;
  }
  return found;
};

export const isCurrent = (pod: ObservedPod | undefined, context: Context): boolean =>
  pod !== undefined && context.targetHash !== undefined && pod.facts.revision === context.targetHash;

/** New pods may be created beside old ones on this node. */
export const maySurge = ({ update }: NodeRecord, { policy }: Pick<Context, 'policy'>): boolean =>
  surges(policy) || update?.kind === 'surge';

/** When this pod becomes available if nothing happens, whatever runs beside it; Infinity if never. */
export const podAvailableAt = (record: NodeRecord, pod: ObservedPod, context: Context): number =>
  isBeingDeleted(record, pod) || !isServing(record, pod)
    ? Number.POSITIVE_INFINITY
    : pod.readySince + context.policy.minReadyMs;

/** Of several live pods, the controller of the pods keeps this one: bound before unbound, then the oldest. */
const isKeptBefore = ({ facts: a }: ObservedPod, { facts: b }: ObservedPod): boolean =>
  a.unbound === b.unbound ? a.createdAt < b.createdAt : b.unbound === true;

/**
 * When the node has an available pod if nothing happens; Infinity if never. Where nodes don't surge, that is the pod that stays if
 * there are several: the node is skipped for as long as that lasts, and must not use the budget meanwhile.
 */
export const availableAt = (record: NodeRecord, context: Context): number => {
  if (maySurge(record, context))
    return record.pods.reduce(
      (least, pod) => Math.min(least, podAvailableAt(record, pod, context)),
      Number.POSITIVE_INFINITY,
    );
  let kept: ObservedPod | undefined;
  for (const pod of record.pods) if (!isBeingDeleted(record, pod) && (!kept || isKeptBefore(pod, kept))) kept = pod;
  return kept ? podAvailableAt(record, kept, context) : Number.POSITIVE_INFINITY;
};
