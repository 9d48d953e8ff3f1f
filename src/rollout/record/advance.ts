import {
  availableAt,
  type Context,
  isCurrent,
  livePod,
  type NodeRecord,
  type NodeUpdate,
  type ObservedPod,
  pastUpdate,
} from './record.ts';

const isCarriedOut = (record: NodeRecord, act: NodeUpdate, context: Context): boolean => {
  const pod = record.pods.find(({ facts }) => facts.uid === act.podUid)?.facts;
  if (!pod) return !context.initialSync;
  if (pod.terminating || act.kind === undefined) return pod.terminating;
  if (act.kind === 'surge')
    return record.pods.some(
      (other) =>
        other.facts.uid !== act.podUid &&
        !other.facts.terminating &&
        (act.rollout !== context.rollout || isCurrent(other, context)),
    );
  // Another write than this act's may have changed the revision that it was reserved on.
  return act.rollout === context.rollout ? pod.revision === context.targetHash : pod.revision !== act.podRevision;
};

/** What is remembered of an act once it was carried out. */
const carriedOut = ({ pods }: NodeRecord, act: NodeUpdate): NodeUpdate => {
  const pod = pods.find(({ facts }) => facts.uid === act.podUid)?.facts;
  const changedAs = act.kind === 'in-place' && act.stage !== 'done' ? pod?.resourceVersion : undefined;
  return { ...act, stage: 'done', ...(changedAs !== undefined && { podResourceVersion: changedAs }) };
};

/**
 * A new pod was created beside the old one, says whoever did it, and is not seen. One that is going is none: it may be of
 * before, as a late watch still shows it, or the new one itself, whose name is free only once it is gone.
 */
export const isNewPodMissing = ({ pods }: NodeRecord, act: NodeUpdate): boolean =>
  act.kind === 'surge' &&
  act.stage === 'done' &&
  pods.some(({ facts }) => facts.uid === act.podUid && !facts.terminating) &&
  pods.every(({ facts }) => facts.uid === act.podUid || facts.terminating);

/** Whoever settles it needs the name of the old pod, which an act that was carried out does not keep. */
const withUnknownOutcome = ({ pods }: NodeRecord, act: NodeUpdate): NodeUpdate => {
  const old = pods.find(({ facts }) => facts.uid === act.podUid)?.facts;
  return { ...act, podName: old?.name ?? act.podName, stage: 'inherited' };
};

/** A pod went away: if it was the new one, before the old one did, whether another is made is decided anew. */
export const noteRemovedPod = (record: NodeRecord, uid: string, { rollout }: Context): void => {
  const { update } = record;
  if (!update || update.podUid === uid || !isNewPodMissing(record, update)) return;
  // Of another rollout, nothing is made anew: seen to be gone, its new pod is not to be looked for either.
  record.update =
    update.rollout === rollout
      ? withUnknownOutcome(record, update)
      : pastUpdate({ rollout: update.rollout, at: update.at });
};

/**
 * Is it time to take an act for one of unknown fate, as its new pod is not seen? Of this rollout after the deadline. Of an
 * older one at once: its old pod alone looks healed, and with a watch behind the new one may be there all the same.
 */
const isNewPodOverdue = (act: NodeUpdate, { policy, rollout, initialSync }: Context, now: number): boolean =>
  !initialSync && (act.rollout !== rollout || now >= act.at + policy.progressDeadlineMs);

// createdAt has whole seconds, and is written by another machine's clock.
const STARTED_SLACK_MS = 2_000;

/** The act that made the node's present pod of the target revision, healed. */
const lastHealed = (record: NodeRecord, pod: ObservedPod, context: Context): NodeRecord['lastCompleted'] => {
  if (record.lastCompleted) return record.lastCompleted.rollout === context.rollout ? record.lastCompleted : undefined;
  // After a restart the pod's own times tell, so that no list of healed acts has to be stored.
  if (!pod.inherited || context.startedAt === undefined) return undefined;
  const at = Math.max(pod.existsSince, pod.facts.gateChangedAt ?? 0);
  return at >= context.startedAt - STARTED_SLACK_MS ? { rollout: context.rollout, at } : undefined;
};

/**
 * Notes which revision the node runs. True when its owner brought it to the target: an act that is none of ours, needs no
 * slot and so counts as healed, but makes the node a suspect should it fall away soon after.
 */
export const observeRevision = (record: NodeRecord, context: Context): boolean => {
  const { lastRevision, node } = record;
  const pod = livePod(record);
  if (!pod) return false;
  record.lastRevision = pod.facts.revision;
  const replaced = lastRevision !== undefined && lastRevision !== record.lastRevision && isCurrent(pod, context);
  if (!replaced || context.policy.strategy !== 'ota' || !node?.ready || !node.eligible) return false;
  // An act of ours that he agreed to was counted when its slot was reserved.
  if (record.update?.rollout === context.rollout) return false;
  record.lastCompleted = { rollout: context.rollout, at: pod.existsSince };
  return true;
};

/** The clock was set back to `now`: no time that was is later. */
export const clampTimes = (record: NodeRecord, now: number): void => {
  record.since = Math.min(record.since, now);
  record.firstSeenAt = Math.min(record.firstSeenAt, now);
  record.downSince = Math.min(record.downSince, now);
  record.pods = record.pods.map((pod) => ({
    ...pod,
    readySince: Math.min(pod.readySince, now),
    seenAt: Math.min(pod.existsSince, now),
    metAt: Math.min(pod.firstSeenAt, now),
  }));
  if (record.update) record.update = { ...record.update, at: Math.min(record.update.at, now) };
  if (record.lastCompleted)
    record.lastCompleted = { ...record.lastCompleted, at: Math.min(record.lastCompleted.at, now) };
  if (record.imageRequest) record.imageRequest = { ...record.imageRequest, at: Math.min(record.imageRequest.at, now) };
  if (record.refused) record.refused = { ...record.refused, until: Math.min(record.refused.until, now) };
};

/**
 * Moves the record's own state on: whether its act was carried out, healed, or came to life again because the node went
 * offline soon after it. Returns the act that healed, for the measure of how long a node is down.
 */
export const advance = (record: NodeRecord, context: Context, now: number): NodeUpdate | undefined => {
  const { node } = record;
  if (record.update && isCarriedOut(record, record.update, context)) record.update = carriedOut(record, record.update);
  const { update } = record;
  // One that came back when another was taken back does not end that one's back-off.
  if (update?.stage === 'done' && update.podUid !== '') record.refused = undefined;
  const available = now >= availableAt(record, context);
  if (available) record.downSince = 0;
  else if (record.downSince === 0) record.downSince = now;
  if (!node?.eligible) {
    if (!node && context.initialSync) return undefined;
    // An act that may still be on its way stays on file until it is taken back properly.
    if (update?.stage === 'done') record.update = undefined;
    record.lastCompleted = undefined;
    return undefined;
  }
  const pod = livePod(record);
  const current = isCurrent(pod, context);
  if (available && current && node.ready) record.forgiven = false;
  if (update) {
    if (isNewPodMissing(record, update)) {
      if (isNewPodOverdue(update, context, now)) record.update = { ...withUnknownOutcome(record, update), at: now };
      return undefined;
    }
    // Without the act too: a pod that it explains (one that goes, a second one) may be all that is in the way.
    const healed =
      update.stage === 'done' &&
      node.ready &&
      available &&
      now >= availableAt({ ...record, update: undefined }, context) &&
      pod !== undefined &&
      (update.kind !== undefined || pod.facts.uid !== update.podUid) &&
      (current || update.rollout !== context.rollout);
    if (healed) {
      record.update = undefined;
      record.lastCompleted = { rollout: update.rollout, at: update.at };
      return update;
    }
    return undefined;
  }
  // A node that falls away soon after a healed act is a suspect.
  if (!node.ready && pod && current) {
    const healed = lastHealed(record, pod, context);
    if (healed && record.since - healed.at <= context.policy.suspectWindowMs) record.update = pastUpdate(healed);
  }
  return undefined;
};
