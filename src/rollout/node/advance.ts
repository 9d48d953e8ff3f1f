import { surges } from '../policy/policy.ts';
import { isSuspiciouslySoon } from './contact.ts';
import { noteListedImages } from './images.ts';
import { offlineAfterMs } from './observe.ts';
import { availableAt, isCurrent, livePod } from './pods.ts';
import type { Context, NodeRecord, ObservedPod } from './record.ts';
import { isCarriedOut, type NodeUpdate } from './update.ts';
import { noteEvent, suspectUpdate } from './update-events.ts';

/** Do the pods of the node show that the update was carried out? */
const isShown = (record: NodeRecord, update: NodeUpdate, context: Context): boolean => {
  const { kind, podUid, podRevision, rollout } = update;
  const pod = record.pods.find(({ facts }) => facts.uid === podUid)?.facts;
  // A watch that is behind may not show a pod that another process has reserved: only a fence tells that it is gone.
  if (!pod) return !context.initialSync && update.state !== 'inherited';
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

/**
 * Notes whether the update was carried out. A pod of an older revision in the place of the one that it was to replace shows that
 * somebody else deleted that one, unless a response confirmed the update. Returns true then: this one does not count.
 */
export const noteCarriedOut = (record: NodeRecord, context: Context): boolean => {
  const { update, pods } = record;
  if (update && !isCarriedOut(update) && isShown(record, update, context)) {
    const pod = pods.find(({ facts }) => facts.uid === update.podUid)?.facts;
    const learned = update.kind === 'in-place' && pod ? { podResourceVersion: pod.resourceVersion } : {};
    noteEvent(record, pod?.terminating === false ? 'shown' : 'vanished', learned);
  }
  const replacement = livePod(record);
  if (record.update?.state !== 'unproven' || !replacement) return false;
  const isOld = record.update.rollout === context.rollout && !isCurrent(replacement, context);
  noteEvent(record, isOld ? 'came-back-old' : 'replaced');
  return isOld;
};

/**
 * The surge was acknowledged, but the cache does not show the new pod. A terminating pod does not count: a late watch may
 * still show an earlier one, and a new pod that terminates blocks its name until it is gone.
 */
export const isNewPodMissing = ({ pods }: NodeRecord, update: NodeUpdate): boolean =>
  update.kind === 'surge' &&
  isCarriedOut(update) &&
  pods.some(({ facts }) => facts.uid === update.podUid && !facts.terminating) &&
  pods.every(({ facts }) => facts.uid === update.podUid || facts.terminating);

/** The deletion was acknowledged, or another process recorded it as carried out, but the cache shows that the pod still runs. */
const isDeletionMissing = ({ pods }: NodeRecord, update: NodeUpdate): boolean =>
  update.kind === undefined &&
  isCarriedOut(update) &&
  pods.some(({ facts }) => facts.uid === update.podUid && !facts.terminating);

/** An update is carried out as far as we know, but the cache does not show its effect. */
export const isEffectMissing = (record: NodeRecord, update: NodeUpdate): boolean =>
  isNewPodMissing(record, update) || isDeletionMissing(record, update);

/** Decides again about an update whose effect is missing. */
const noteMissing = (record: NodeRecord, { podUid, podName }: NodeUpdate, now?: number): void => {
  const old = record.pods.find(({ facts }) => facts.uid === podUid)?.facts;
  // Looking up the outcome needs the name of the old pod, which an update that was carried out does not keep.
  noteEvent(record, 'missing', { podName: old?.name ?? podName, ...(now !== undefined && { at: now }) });
};

/** A pod was removed. If it was the new pod of a surge and the old one still runs, decide again whether to create another. */
export const noteRemovedPod = (record: NodeRecord, uid: string, { rollout }: Context): void => {
  const { update } = record;
  if (!update || update.podUid === uid || !isNewPodMissing(record, update)) return;
  if (update.rollout === rollout) noteMissing(record, update);
  else noteEvent(record, 'new-pod-removed');
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
    isCarriedOut(update) &&
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
  noteListedImages(record, context);
  // An older update that was restored when a newer one was released does not end the newer one's back-off.
  if (update && isCarriedOut(update) && update.state !== 'past') record.refused = undefined;
  const available = now >= availableAt(record, context);
  if (available) record.downSince = 0;
  else if (record.downSince === 0) record.downSince = now;
  if (!node?.eligible) {
    if (!node && context.initialSync) return undefined;
    noteEvent(record, 'no-longer-eligible');
    record.lastCompleted = undefined;
    return undefined;
  }
  const pod = livePod(record);
  if (available && isCurrent(pod, context) && node.ready) record.forgiven = false;
  if (!update) {
    // A node that goes offline soon after a completed update is a suspect.
    const completed = !node.ready && pod && isCurrent(pod, context) && lastCompletedOf(record, pod, context);
    if (completed && isSuspiciouslySoon(offlineAfterMs(record, completed), context.policy))
      suspectUpdate(record, completed);
    return undefined;
  }
  if (isEffectMissing(record, update)) {
    if (isEffectOverdue(update, context, now)) noteMissing(record, update, now);
    return undefined;
  }
  if (!isComplete(record, update, context, now)) return undefined;
  noteEvent(record, 'completed');
  const { rollout, at, saidAt } = update;
  record.lastCompleted = { rollout, at, ...(saidAt !== undefined && { saidAt }) };
  return update;
};
