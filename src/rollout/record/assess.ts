import { isAnnounced } from '../facts/need-upgrade.ts';
import { managerReplacesPods } from '../policy/policy.ts';
import { isNewPodMissing } from './advance.ts';
import { skewTolerantStart } from './clock-skew.ts';
import { assessImages, requestPriorityOf } from './images.ts';
import { announcementFor } from './owner.ts';
import { phaseOf, type Situation } from './phase.ts';
import {
  availableAt,
  type Context,
  isBeingDeleted,
  isCurrent,
  isStale,
  isUpdatedInPlace,
  livePod,
  maySurge,
  type NodeRecord,
  type NodeStatus,
  type NodeUpdate,
  notEligible,
  type ObservedPod,
  podAvailableAt,
} from './record.ts';
import { findSurgedOutPod, newPodOf, surgingPods } from './surge.ts';

const failureOf = (
  record: NodeRecord,
  context: Context,
  pod: ObservedPod | undefined,
  deadlineAt: number,
  now: number,
): Situation['failure'] => {
  const { update } = record;
  // What keeps a pod from being available while it is prepared for its end is no fault of its revision.
  if (!pod || pod.facts.preparingDelete) return undefined;
  if (isCurrent(pod, context)) {
    if (now >= (maySurge(record, context) ? podAvailableAt(record, pod, context) : availableAt(record, context)))
      return undefined;
    // Made anew, a pod that was changed in place may yet work.
    const expired = now >= deadlineAt && !isUpdatedInPlace(record, context);
    return pod.facts.trouble ?? (expired ? 'deadline' : undefined);
  }
  if (update?.stage !== 'done' || update.rollout !== context.rollout || isStale(record, pod)) return undefined;
  return update.kind === 'in-place' || update.podUid !== pod.facts.uid ? 'came-back-old' : undefined;
};

const actSituation = (act: NodeUpdate | undefined, context: Context): Situation['act'] => {
  if (!act) return 'none';
  if (act.stage !== 'done') return 'reserved';
  return act.rollout === context.rollout ? 'this-rollout' : 'older-rollout';
};

/** Assesses a record at `now`, without changing it: everything that the ledger counts follows from here. */
export const assess = (record: NodeRecord, context: Context, now: number): NodeStatus => {
  const { node, update } = record;
  const { policy } = context;
  const pod = livePod(record);
  const current = isCurrent(pod, context);
  const wanted = pod && announcementFor(record, current, context);
  const said =
    wanted === 'none' ? pod?.facts.announced === undefined : wanted && isAnnounced(pod?.facts.announced, wanted);
  const announcement = said ? undefined : wanted;
  const need = assessImages(record, context, now);
  const { requestStale } = need;
  if (!node?.eligible)
    return announcement || requestStale
      ? { ...notEligible, announcement, imageRequestStale: requestStale }
      : notEligible;
  const byOthers = !managerReplacesPods(policy);
  const offered = typeof wanted === 'object' && wanted.reason === 'NewRevision';
  const approved = offered && policy.byApproval && pod?.facts.approved === wanted.revision;
  const readyAt = availableAt(record, context);
  const available = now >= readyAt;
  const settledAt = node.ready ? record.since + policy.settleMs : Number.POSITIVE_INFINITY;
  const settled = now >= settledAt;

  // An old and a new pod at once: what is waited for is the new one.
  const several = surgingPods(record, context);
  const chief = several.length > 0 ? newPodOf(several, context) : pod;
  const surgedOutPod = settled ? findSurgedOutPod(record, several, context, now)?.facts : undefined;
  const newPodMissing = update !== undefined && isNewPodMissing(record, update);

  const inPlace = isUpdatedInPlace(record, context);
  const begunAt = Math.max(record.downSince, record.since, chief?.existsSince ?? 0, inPlace ? (update?.at ?? 0) : 0);
  const deadlineAt = skewTolerantStart(begunAt, chief?.firstSeenAt ?? 0) + policy.progressDeadlineMs;
  const failure = node.ready ? failureOf(record, context, chief, deadlineAt, now) : undefined;

  const windowEndsAt = update ? update.at + policy.suspectWindowMs : 0;
  const fellAway =
    !node.ready && update?.stage === 'done' && update.rollout === context.rollout && record.since <= windowEndsAt;
  const lostAt = windowEndsAt - record.since + skewTolerantStart(record.since, record.firstSeenAt);
  const lost = fellAway && now >= lostAt;

  const livePods = record.pods.filter((each) => !isBeingDeleted(record, each)).length;
  const refused = record.refused !== undefined && now < record.refused.until;
  // What is still on its way to be changed, or was and has not started: its revision may differ while a watch is behind.
  const changing =
    inPlace && pod !== undefined && !pod.facts.preparingDelete && failure !== 'came-back-old' && !available;
  const mayBeMadeAnew = update?.stage === 'done' && settled && node.selected && record.pods.length === 1 && !byOthers;
  const overdue = changing && now >= deadlineAt && !(current && pod.facts.ready) && mayBeMadeAnew;
  const { phase, cause } = phaseOf({
    online: node.ready,
    // Nobody here acts on a node that has only just come back.
    settled: settled || byOthers,
    // Beside a pod that is going another may begin to live where nodes surge.
    pods: maySurge(record, context) && livePods > 0 ? livePods : record.pods.length,
    livePods,
    current,
    ready: pod?.facts.ready ?? false,
    leaving: pod?.facts.preparingDelete ?? false,
    available,
    act: actSituation(update, context),
    replacing:
      policy.strategy !== 'auto' && record.lastRevision !== undefined && record.lastRevision !== context.targetHash,
    suspect: fellAway,
    lost,
    failure,
    surging: several.length > 0 || newPodMissing,
    changing,
    overdue,
    refused,
    selected: node.selected,
    partitionAllows: record.partitionAllows,
    imageMissing: need.waitsForImages,
  });

  const chiefAt = chief === pod ? readyAt : chief ? podAvailableAt(record, chief, context) : Number.POSITIVE_INFINITY;
  const starts = isCurrent(chief, context) && now < chiefAt && !chief?.facts.preparingDelete && failure === undefined;
  const waits = node.ready && (starts || changing);
  const readyTimes = several.map((each) => podAvailableAt(record, each, context)).filter((time) => time > now);
  const times = [
    node.ready && !settled ? settledAt : undefined,
    available ? undefined : readyAt,
    waits && now < deadlineAt ? deadlineAt : undefined,
    fellAway && !lost ? lostAt : undefined,
    refused ? record.refused?.until : undefined,
    newPodMissing && update ? update.at + policy.progressDeadlineMs : undefined,
    need.dueAt,
    ...readyTimes,
  ];
  const occupied = update !== undefined || several.length > 0;
  const inFlight = node.ready && occupied && !(failure === 'came-back-old' && available);
  return {
    phase,
    cause,
    online: node.ready,
    settled,
    down: settled && !available,
    inFlight,
    // An act whose answer was lost may have been carried out: waiting for its next try, it is under way all the same.
    trying: inFlight && ((phase !== 'broken' && phase !== 'held') || (update !== undefined && update.stage !== 'done')),
    // Whatever comes after a pod that goes is of the target, whoever took it away.
    committed:
      isCurrent(chief, context) || livePods === 0 || (update?.stage === 'done' && update.rollout === context.rollout),
    suspect: fellAway && !lost && !record.forgiven,
    failure: record.forgiven ? undefined : lost ? 'lost' : failure ? 'online' : undefined,
    overdue,
    surgedOutPod,
    asked: offered && !approved,
    approved,
    announcement,
    images: need.images,
    waitsForImages: need.waitsForImages,
    imageRequestPriority: requestPriorityOf(record, need, phase, context),
    imageRequestStale: requestStale,
    pullPodAllowed: need.pullPodAllowed,
    zone: node.zone,
    dueAt: times.reduce<number>((least, time) => Math.min(least, time ?? least), Number.POSITIVE_INFINITY),
  };
};
