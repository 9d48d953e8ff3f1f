import { isAnnounced } from '../facts/need-upgrade.ts';
import { actsHere } from '../policy/policy.ts';
import { lacksNewPod } from './advance.ts';
import { countedFrom } from './clock-skew.ts';
import { askTurnOf, imageNeedOf } from './images.ts';
import { announcementFor } from './owner.ts';
import { phaseOf, type Situation } from './phase.ts';
import {
  type Act,
  availableAt,
  type Context,
  isChangedInPlace,
  isCurrent,
  isGoing,
  isOutOfDate,
  livePod,
  maySurge,
  type NodeRecord,
  outside,
  podAvailableAt,
  type SeenPod,
  type View,
} from './record.ts';
import { freshPod, podToRetire, surgingPods } from './surge.ts';

const failureOf = (
  record: NodeRecord,
  context: Context,
  pod: SeenPod | undefined,
  deadlineAt: number,
  now: number,
): Situation['failure'] => {
  const { act } = record;
  // What keeps a pod from being available while it is prepared for its end is no fault of its revision.
  if (!pod || pod.facts.leaving) return undefined;
  if (isCurrent(pod, context)) {
    if (now >= (maySurge(record, context) ? podAvailableAt(record, pod, context) : availableAt(record, context)))
      return undefined;
    // Made anew, a pod that was changed in place may yet work.
    const expired = now >= deadlineAt && !isChangedInPlace(record, context);
    return pod.facts.trouble ?? (expired ? 'deadline' : undefined);
  }
  if (act?.stage !== 'done' || act.rollout !== context.rollout || isOutOfDate(record, pod)) return undefined;
  return act.kind === 'in-place' || act.podUid !== pod.facts.uid ? 'came-back-old' : undefined;
};

const actSituation = (act: Act | undefined, context: Context): Situation['act'] => {
  if (!act) return 'none';
  if (act.stage !== 'done') return 'reserved';
  return act.rollout === context.rollout ? 'this-rollout' : 'older-rollout';
};

/** Assesses a record at `now`, without changing it: everything that the ledger counts follows from here. */
export const assess = (record: NodeRecord, context: Context, now: number): View => {
  const { node, act } = record;
  const { policy } = context;
  const pod = livePod(record);
  const current = isCurrent(pod, context);
  const wanted = pod && announcementFor(record, current, context);
  const said =
    wanted === 'none' ? pod?.facts.announced === undefined : wanted && isAnnounced(pod?.facts.announced, wanted);
  const announce = said ? undefined : wanted;
  const need = imageNeedOf(record, context, now);
  const { unask } = need;
  if (!node?.eligible) return announce || unask ? { ...outside, announce, unask } : outside;
  const byOthers = !actsHere(policy);
  const offered = typeof wanted === 'object' && wanted.reason === 'NewRevision';
  const agreed = offered && policy.byApproval && pod?.facts.approved === wanted.revision;
  const readyAt = availableAt(record, context);
  const available = now >= readyAt;
  const settledAt = node.ready ? record.since + policy.settleMs : Number.POSITIVE_INFINITY;
  const settled = now >= settledAt;

  // An old and a new pod at once: what is waited for is the new one.
  const several = surgingPods(record, context);
  const chief = several.length > 0 ? freshPod(several, context) : pod;
  const retire = settled ? podToRetire(record, several, context, now)?.facts : undefined;
  const newPodMissing = act !== undefined && lacksNewPod(record, act);

  const inPlace = isChangedInPlace(record, context);
  const begunAt = Math.max(record.downSince, record.since, chief?.seenAt ?? 0, inPlace ? (act?.at ?? 0) : 0);
  const deadlineAt = countedFrom(begunAt, chief?.metAt ?? 0) + policy.progressDeadlineMs;
  const failure = node.ready ? failureOf(record, context, chief, deadlineAt, now) : undefined;

  const windowEndsAt = act ? act.at + policy.suspectWindowMs : 0;
  const fellAway =
    !node.ready && act?.stage === 'done' && act.rollout === context.rollout && record.since <= windowEndsAt;
  const lostAt = windowEndsAt - record.since + countedFrom(record.since, record.metAt);
  const lost = fellAway && now >= lostAt;

  const livePods = record.pods.filter((each) => !isGoing(record, each)).length;
  const refused = record.refused !== undefined && now < record.refused.until;
  // What is still on its way to be changed, or was and has not started: its revision may differ while a watch is behind.
  const changing = inPlace && pod !== undefined && !pod.facts.leaving && failure !== 'came-back-old' && !available;
  const mayBeMadeAnew = act?.stage === 'done' && settled && node.selected && record.pods.length === 1 && !byOthers;
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
    leaving: pod?.facts.leaving ?? false,
    available,
    act: actSituation(act, context),
    replacing: policy.strategy !== 'auto' && record.ran !== undefined && record.ran !== context.targetHash,
    suspect: fellAway,
    lost,
    failure,
    surging: several.length > 0 || newPodMissing,
    changing,
    overdue,
    refused,
    selected: node.selected,
    member: record.member,
    imageMissing: need.awaitsImages,
  });

  const chiefAt = chief === pod ? readyAt : chief ? podAvailableAt(record, chief, context) : Number.POSITIVE_INFINITY;
  const starts = isCurrent(chief, context) && now < chiefAt && !chief?.facts.leaving && failure === undefined;
  const waits = node.ready && (starts || changing);
  const readyTimes = several.map((each) => podAvailableAt(record, each, context)).filter((time) => time > now);
  const times = [
    node.ready && !settled ? settledAt : undefined,
    available ? undefined : readyAt,
    waits && now < deadlineAt ? deadlineAt : undefined,
    fellAway && !lost ? lostAt : undefined,
    refused ? record.refused?.until : undefined,
    newPodMissing && act ? act.at + policy.progressDeadlineMs : undefined,
    need.dueAt,
    ...readyTimes,
  ];
  const occupied = act !== undefined || several.length > 0;
  const inFlight = node.ready && occupied && !(failure === 'came-back-old' && available);
  return {
    phase,
    cause,
    online: node.ready,
    settled,
    down: settled && !available,
    inFlight,
    // An act whose answer was lost may have been carried out: waiting for its next try, it is under way all the same.
    trying: inFlight && ((phase !== 'broken' && phase !== 'held') || (act !== undefined && act.stage !== 'done')),
    // Whatever comes after a pod that goes is of the target, whoever took it away.
    taken: isCurrent(chief, context) || livePods === 0 || (act?.stage === 'done' && act.rollout === context.rollout),
    suspect: fellAway && !lost && !record.forgiven,
    failure: record.forgiven ? undefined : lost ? 'lost' : failure ? 'online' : undefined,
    overdue,
    retire,
    asked: offered && !agreed,
    agreed,
    announce,
    images: need.images,
    awaitsImages: need.awaitsImages,
    ask: askTurnOf(record, need, phase, context),
    unask,
    pullsByPod: need.byPod,
    zone: node.zone,
    dueAt: times.reduce<number>((least, time) => Math.min(least, time ?? least), Number.POSITIVE_INFINITY),
  };
};
