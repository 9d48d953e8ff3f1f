import type { Phase } from '../../words/index.ts';
import { noReports } from '../facts/image-reports.ts';
import type { NodeFacts } from '../facts/node.ts';
import { managerReplacesPods, ownersReplacePods } from '../policy/policy.ts';
import { isEffectMissing, isNewPodMissing } from './advance.ts';
import { contactOf } from './contact.ts';
import { assessImages, requestPriorityOf } from './images.ts';
import { isUpdatedInPlace } from './in-place.ts';
import { offlineAfterMs, skewTolerantStart } from './observe.ts';
import { assessOwner } from './owner.ts';
import { phaseOf, type Situation } from './phase.ts';
import { availableAt, isBeingDeleted, isCurrent, isStale, livePod, maySurge, podAvailableAt } from './pods.ts';
import {
  type Context,
  type NodeRecord,
  type NodeStatus,
  noImages,
  noOwner,
  notEligible,
  type ObservedPod,
} from './record.ts';
import { findSurgedOutPod, newPodOf, surgingPods } from './surge.ts';
import { isCarriedOut, type NodeUpdate } from './update.ts';

const earliest = (times: readonly (number | undefined)[]): number =>
  times.reduce<number>((least, time) => Math.min(least, time ?? least), Number.POSITIVE_INFINITY);

const updateSituation = (update: NodeUpdate | undefined, { rollout }: Context): Situation['update'] => {
  if (!update) return 'none';
  if (!isCarriedOut(update)) return 'reserved';
  return update.rollout === rollout ? 'this-rollout' : 'older-rollout';
};

/** The target was brought to the node by an update of ours. */
const isOfThisRollout = (update: NodeUpdate | undefined, { rollout }: Context): update is NodeUpdate =>
  update?.rollout === rollout && isCarriedOut(update);

/** Why the target does not work on an online node, as far as `pod` shows. */
const failureOf = (
  record: NodeRecord,
  pod: ObservedPod | undefined,
  context: Context,
  deadlineAt: number,
  now: number,
): Situation['failure'] => {
  const { update } = record;
  // Preparing a pod for its deletion makes it unavailable; its revision is not to blame.
  if (!pod || pod.facts.preparingDelete) return undefined;
  if (isCurrent(pod, context)) {
    if (now >= podAvailableAt(record, pod, context)) return undefined;
    // A pod that was updated in place may work once it is recreated.
    const expired = now >= deadlineAt && !isUpdatedInPlace(record, context);
    return pod.facts.trouble ?? (expired ? 'deadline' : undefined);
  }
  if (!isOfThisRollout(update, context) || isStale(record, pod)) return undefined;
  return update.kind === 'in-place' || update.podUid !== pod.facts.uid ? 'came-back-old' : undefined;
};

/**
 * What a pod that is created on the node now is of in place of the target, from which the node is kept: by its plan, or by what else
 * holds it where DaemonSets ask for that. Not where the target has run or an update has begun: no node goes back. `waits`: nothing
 * has decided yet that the node gets the target, so that a partition does not count it first.
 */
const heldRevisionOf = (
  record: NodeRecord,
  node: NodeFacts,
  context: Context,
  allowedByPlan: boolean,
): { hash: string | undefined; waits: boolean } => {
  const { plan, rolloutPlan, recreate } = context.policy;
  const { heldRevision: hash, targetHash } = context;
  const hasTarget = record.lastRevision === targetHash || record.pods.some((pod) => isCurrent(pod, context));
  if (recreate === undefined || hash === undefined || hasTarget || isOfThisRollout(record.update, context))
    return { hash: undefined, waits: false };
  // What a plan says that does not exist, or cannot be read, nobody knows.
  if (!allowedByPlan || (rolloutPlan && !plan)) return { hash, waits: true };
  if (recreate !== 'held-revision') return { hash: undefined, waits: false };
  return { hash: node.selected && record.partitionAllows ? undefined : hash, waits: true };
};

type UpdateStatus = Omit<NodeStatus, 'phase' | 'owner' | 'images'> & { phase: Phase };

/** How far an eligible node is on its way to the target. */
const assessUpdate = (
  record: NodeRecord,
  node: NodeFacts,
  context: Context,
  imageMissing: boolean,
  now: number,
): UpdateStatus => {
  const { update } = record;
  const { policy } = context;
  const managed = managerReplacesPods(policy);
  const carriedOut = update !== undefined && isCarriedOut(update);
  const pod = livePod(record);
  const current = isCurrent(pod, context);
  const readyAt = availableAt(record, context);
  const available = now >= readyAt;
  const { settledAt, lostAt } = contactOf(
    {
      online: node.ready,
      since: record.since,
      offlineAfterMs: isOfThisRollout(update, context) ? offlineAfterMs(record, update) : undefined,
      countsFrom: skewTolerantStart(record.since, record.firstSeenAt),
    },
    policy,
  );
  const settled = now >= settledAt;

  // With an old and a new pod at once, the rollout waits for the new one.
  const surging = surgingPods(record, context);
  const awaited = surging.length > 0 ? newPodOf(surging, context) : pod;
  const newPodMissing = update !== undefined && isNewPodMissing(record, update);

  const inPlace = isUpdatedInPlace(record, context);
  const begunAt = Math.max(record.downSince, record.since, awaited?.existsSince ?? 0, inPlace ? (update?.at ?? 0) : 0);
  const deadlineAt = skewTolerantStart(begunAt, awaited?.firstSeenAt ?? 0) + policy.progressDeadlineMs;
  const failure = node.ready ? failureOf(record, awaited, context, deadlineAt, now) : undefined;
  // A node that went offline soon after its update is a suspect until the suspect window ends, and then lost.
  const lost = lostAt !== undefined && now >= lostAt;

  const livePods = record.pods.filter((each) => !isBeingDeleted(record, each)).length;
  const refused = record.refused !== undefined && now < record.refused.until;
  // The patch is in flight, or the pod has not restarted since; while the cache is stale it may show the old revision.
  const updatingInPlace =
    inPlace && pod !== undefined && !pod.facts.preparingDelete && failure !== 'came-back-old' && !available;
  const stageOpen = context.isStageOpen(record.stage);
  const waitsForOther = record.waitsFor !== undefined;
  const calendarOpen = context.isCalendarOpen(node.timeZone);
  const busy = node.busy !== undefined;
  // Only a closed stage withdraws the offer: owners know nothing of the rest of a plan.
  const offered = stageOpen && ownersReplacePods(policy);
  const allowedByPlan = stageOpen && !waitsForOther && !busy && calendarOpen;
  const held = heldRevisionOf(record, node, context, allowedByPlan);
  const mayBeRecreated = allowedByPlan && managed && carriedOut && settled && node.selected && record.pods.length === 1;
  const overdue = updatingInPlace && now >= deadlineAt && !(current && pod.facts.ready) && mayBeRecreated;
  const { phase, cause } = phaseOf({
    online: node.ready,
    // Only the manager waits for a node that has just returned.
    settled: settled || !managed,
    // Where nodes surge, a new pod may start beside a terminating one.
    pods: maySurge(record, context) && livePods > 0 ? livePods : record.pods.length,
    livePods,
    current,
    ready: pod?.facts.ready ?? false,
    preparingDelete: pod?.facts.preparingDelete ?? false,
    available,
    update: updateSituation(update, context),
    replacing:
      policy.strategy !== 'auto' && record.lastRevision !== undefined && record.lastRevision !== context.targetHash,
    suspect: lostAt !== undefined,
    lost,
    failure,
    surging: surging.length > 0 || newPodMissing,
    updatingInPlace,
    overdue,
    refused,
    selected: node.selected,
    partitionAllows: record.partitionAllows,
    stageOpen,
    waitsForOther: waitsForOther && !offered,
    busy: busy && !offered,
    calendarOpen: calendarOpen || offered,
    imageMissing,
  });

  const starting =
    isCurrent(awaited, context) &&
    awaited !== undefined &&
    now < podAvailableAt(record, awaited, context) &&
    !awaited.facts.preparingDelete &&
    failure === undefined;
  const hasSlot = update !== undefined || surging.length > 0;
  const inFlight = node.ready && hasSlot && !(failure === 'came-back-old' && available);
  // The pod that replaces a terminating one is at the target, no matter who deleted the old one, unless the node is kept from it.
  const committed =
    isCurrent(awaited, context) ||
    (livePods === 0 && !held.waits) ||
    (carriedOut && update.rollout === context.rollout);
  // An update whose response was lost may have been carried out: it stays active while it waits for the next try.
  const active = inFlight && ((phase !== 'broken' && phase !== 'held') || (update !== undefined && !carriedOut));
  const isSuspect = lostAt !== undefined && !lost && !record.forgiven;
  const failed = record.forgiven ? undefined : lost ? 'lost' : failure ? 'online' : undefined;
  return {
    phase,
    cause,
    online: node.ready,
    settled,
    down: settled && !available,
    inFlight,
    active,
    committed,
    allowedByPlan,
    heldRevision: held.hash,
    inCoverage:
      node.ready && (phase === 'updated' || (node.selected && (committed || (record.partitionAllows && !busy)))),
    stage: record.stage,
    exposed:
      context.exposes(record.stage) &&
      record.pods.some((each) => isCurrent(each, context) && !isBeingDeleted(record, each)),
    scopes: record.scopes,
    suspect: isSuspect,
    failure: failed,
    onTrial: !record.forgiven && (active || isSuspect || failed !== undefined || (node.ready && current && !available)),
    overdue,
    surgedOutPod: settled ? findSurgedOutPod(record, surging, context, now)?.facts : undefined,
    imageReports: (current ? pod?.facts.imageReports : undefined) ?? noReports,
    zone: node.zone,
    dueAt: earliest([
      node.ready && !settled ? settledAt : undefined,
      available ? undefined : readyAt,
      node.ready && (starting || updatingInPlace) && now < deadlineAt ? deadlineAt : undefined,
      lost ? undefined : lostAt,
      refused ? record.refused?.until : undefined,
      update && isEffectMissing(record, update) ? update.at + policy.progressDeadlineMs : undefined,
      ...surging.map((each) => podAvailableAt(record, each, context)).filter((time) => time > now),
    ]),
  };
};

/** Assesses a record at `now` without changing it: everything that the ledger counts follows from the result. */
export const assess = (record: NodeRecord, context: Context, now: number): NodeStatus => {
  const { node } = record;
  const owner = assessOwner(record, context);
  const images = assessImages(record, context, now);
  const { state, required, staleRequest, pullPodAllowed } = images;
  if (!node?.eligible) {
    if (owner === noOwner && !staleRequest) return notEligible;
    return { ...notEligible, owner, images: { ...noImages, staleRequest } };
  }
  const update = assessUpdate(record, node, context, required, now);
  const requestPriority = requestPriorityOf(record, images, update.phase, context);
  const nothingToPull = state === 'none' && !required && !staleRequest && !pullPodAllowed;
  // One literal, like `notEligible`: the ledger keeps one status for each node, and spreading would cost time and memory.
  return {
    phase: update.phase,
    cause: update.cause,
    online: update.online,
    settled: update.settled,
    down: update.down,
    inFlight: update.inFlight,
    active: update.active,
    committed: update.committed,
    allowedByPlan: update.allowedByPlan,
    heldRevision: update.heldRevision,
    inCoverage: update.inCoverage,
    stage: update.stage,
    exposed: update.exposed,
    scopes: update.scopes,
    suspect: update.suspect,
    failure: update.failure,
    onTrial: update.onTrial,
    overdue: update.overdue,
    surgedOutPod: update.surgedOutPod,
    owner,
    images: nothingToPull ? noImages : { state, required, requestPriority, staleRequest, pullPodAllowed },
    imageReports: update.imageReports,
    zone: update.zone,
    dueAt: Math.min(update.dueAt, images.dueAt),
  };
};
