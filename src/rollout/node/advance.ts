import { surges } from '../policy/policy.ts';
import { offlineAfterMs } from './observe.ts';
import { availableAt, isCurrent, livePod } from './pods.ts';
import type { Context, NodeRecord, NodeUpdate, ObservedPod } from './record.ts';
import { pastUpdate } from './update.ts';

const isCarriedOut = (record: NodeRecord, update: NodeUpdate, context: Context): boolean => {
  const { kind, podUid, podRevision, rollout } = update;
  const pod = record.pods.find(({ facts }) => facts.uid === podUid)?.facts;
  // A watch that is behind may not show a pod that another process has reserved: only a fence tells that it is gone.
  if (!pod) return !context.initialSync && update.stage !== 'inherited';
  if (pod.terminating || kind === undefined) return pod.terminating;
  if (kind === 'surge')
    return record.pods.some(
      (other) =>
        other.facts.uid !== podUid &&
        !other.facts.terminating &&
        (rollout !== context.rollout || isCurrent(other, context)),
    );
  // Another write than this update's may have changed the revision since the slot was reserved.
  return rollout === context.rollout ? pod.revision === context.targetHash : pod.revision !== podRevision;
};

const carriedOut = ({ pods }: NodeRecord, update: NodeUpdate): NodeUpdate => {
  const pod = pods.find(({ facts }) => facts.uid === update.podUid)?.facts;
  const patchedVersion = update.kind === 'in-place' && update.stage !== 'done' ? pod?.resourceVersion : undefined;
  const unproven = update.stage !== 'done' && pod?.terminating !== false;
  return {
    ...update,
    stage: 'done',
    ...(unproven && { unproven }),
    ...(patchedVersion !== undefined && { podResourceVersion: patchedVersion }),
  };
};

/**
 * Notes whether the update was carried out. A pod of an older revision in the place of the one that it was to replace shows that
 * somebody else deleted that one, perhaps before the target was set, unless a response confirmed the update. The node then gets
 * another update, as after a new template: in its own slot until it works. Returns true then: this one does not count.
 */
export const noteCarriedOut = (record: NodeRecord, context: Context): boolean => {
  if (record.update && isCarriedOut(record, record.update, context)) record.update = carriedOut(record, record.update);
  const { update } = record;
  const pod = livePod(record);
  if (update?.stage !== 'done' || !update.unproven || !pod) return false;
  const { unproven: _, ...proven } = update;
  const isOld = update.rollout === context.rollout && !isCurrent(pod, context);
  record.update = isOld ? pastUpdate({ rollout: update.rollout - 1, at: update.at }) : proven;
  return isOld;
};

/**
 * The surge was acknowledged, but the cache does not show the new pod. A terminating pod does not count: a late watch may
 * still show an earlier one, and a new pod that terminates blocks its name until it is gone.
 */
export const isNewPodMissing = ({ pods }: NodeRecord, update: NodeUpdate): boolean =>
  update.kind === 'surge' &&
  update.stage === 'done' &&
  pods.some(({ facts }) => facts.uid === update.podUid && !facts.terminating) &&
  pods.every(({ facts }) => facts.uid === update.podUid || facts.terminating);

/** The deletion was acknowledged, or another process recorded it as carried out, but the cache shows that the pod still runs. */
const isDeletionMissing = ({ pods }: NodeRecord, { kind, stage, podUid }: NodeUpdate): boolean =>
  kind === undefined && stage === 'done' && pods.some(({ facts }) => facts.uid === podUid && !facts.terminating);

/** An update is carried out as far as we know, but the cache does not show its effect. */
export const isEffectMissing = (record: NodeRecord, update: NodeUpdate): boolean =>
  isNewPodMissing(record, update) || isDeletionMissing(record, update);

/** Looking up the outcome needs the name of the old pod, which an update that was carried out does not keep. */
const withUnknownOutcome = ({ pods }: NodeRecord, update: NodeUpdate): NodeUpdate => {
  const old = pods.find(({ facts }) => facts.uid === update.podUid)?.facts;
  return { ...update, podName: old?.name ?? update.podName, stage: 'inherited' };
};

/** A pod was removed. If it was the new pod of a surge and the old one still runs, decide again whether to create another. */
export const noteRemovedPod = (record: NodeRecord, uid: string, { rollout }: Context): void => {
  const { update } = record;
  if (!update || update.podUid === uid || !isNewPodMissing(record, update)) return;
  // An older rollout's new pod is not created again, and since it is known to be gone it need not be looked up either.
  record.update =
    update.rollout === rollout
      ? withUnknownOutcome(record, update)
      : pastUpdate({ rollout: update.rollout, at: update.at });
};

/**
 * Is it time to treat the update's outcome as unknown because its effect is missing? After the deadline; a surge of an older
 * rollout at once, as its old pod alone looks complete, yet the new one may exist while the cache is stale.
 */
const isEffectOverdue = (update: NodeUpdate, { policy, rollout, initialSync }: Context, now: number): boolean =>
  !initialSync &&
  ((update.kind === 'surge' && update.rollout !== rollout) || now >= update.at + policy.progressDeadlineMs);

// createdAt has whole seconds and comes from another machine's clock.
const STARTED_SLACK_MS = 2_000;

/** The completed update that brought the node's current pod to the target. */
const lastCompletedOf = (record: NodeRecord, pod: ObservedPod, context: Context): NodeRecord['lastCompleted'] => {
  if (record.lastCompleted) return record.lastCompleted.rollout === context.rollout ? record.lastCompleted : undefined;
  // After a restart the pod's own times tell, so completed updates need not be stored.
  if (!pod.inherited || context.startedAt === undefined) return undefined;
  const { createdAt, gateChangedAt = 0 } = pod.facts;
  const at = Math.max(pod.existsSince, gateChangedAt);
  if (at < context.startedAt - STARTED_SLACK_MS) return undefined;
  return { rollout: context.rollout, at, saidAt: Math.max(createdAt, gateChangedAt) };
};

/**
 * Notes which revision the node runs. Returns true if its owner brought it to the target: that update is not ours and needs
 * no slot, so it counts as completed, but it makes the node a suspect if the node goes offline soon after.
 */
export const observeRevision = (record: NodeRecord, context: Context): boolean => {
  const { lastRevision, node } = record;
  const pod = livePod(record);
  if (!pod) return false;
  record.lastRevision = pod.facts.revision;
  const replaced = lastRevision !== undefined && lastRevision !== record.lastRevision && isCurrent(pod, context);
  if (!replaced || context.policy.strategy !== 'ota' || !node?.ready || !node.eligible) return false;
  // An update of ours that the owner approved was counted when its slot was reserved.
  if (record.update?.rollout === context.rollout) return false;
  record.lastCompleted = { rollout: context.rollout, at: pod.existsSince };
  return true;
};

const isComplete = (record: NodeRecord, update: NodeUpdate, context: Context, now: number): boolean => {
  const pod = livePod(record);
  return (
    update.stage === 'done' &&
    record.node?.ready === true &&
    now >= availableAt(record, context) &&
    // Also once the update no longer explains a terminating or a second pod, which would keep the node from being updated.
    (surges(context.policy) || record.pods.length === 1) &&
    pod !== undefined &&
    (update.kind !== undefined || pod.facts.uid !== update.podUid) &&
    (isCurrent(pod, context) || update.rollout !== context.rollout)
  );
};

/**
 * Advances the record's own state: whether its update completed, or counts again because the node went offline soon after
 * it. Returns the update that completed, to measure how long a node is down.
 */
export const advance = (record: NodeRecord, context: Context, now: number): NodeUpdate | undefined => {
  const { node, update } = record;
  // An older update that was restored when a newer one was released does not end the newer one's back-off.
  if (update?.stage === 'done' && update.podUid !== '') record.refused = undefined;
  const available = now >= availableAt(record, context);
  if (available) record.downSince = 0;
  else if (record.downSince === 0) record.downSince = now;
  if (!node?.eligible) {
    if (!node && context.initialSync) return undefined;
    // An update that may still be in flight is kept until it is released properly.
    if (update?.stage === 'done') record.update = undefined;
    record.lastCompleted = undefined;
    return undefined;
  }
  const pod = livePod(record);
  if (available && isCurrent(pod, context) && node.ready) record.forgiven = false;
  if (!update) {
    // A node that goes offline soon after a completed update is a suspect.
    const completed = !node.ready && pod && isCurrent(pod, context) && lastCompletedOf(record, pod, context);
    if (completed && offlineAfterMs(record, completed) <= context.policy.suspectWindowMs)
      record.update = pastUpdate(completed);
    return undefined;
  }
  if (isEffectMissing(record, update)) {
    if (isEffectOverdue(update, context, now)) {
      const { saidAt: _, ...again } = withUnknownOutcome(record, update);
      record.update = { ...again, at: now };
    }
    return undefined;
  }
  if (!isComplete(record, update, context, now)) return undefined;
  record.update = undefined;
  const { rollout, at, saidAt } = update;
  record.lastCompleted = { rollout, at, ...(saidAt !== undefined && { saidAt }) };
  return update;
};
