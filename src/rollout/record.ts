import { announcementFor } from './announce.ts';
import type { NodeFacts, PodFacts } from './facts.ts';
import { type Announcement, isAnnounced } from './need-upgrade.ts';
import { type Cause, type Phase, phaseOf, type Situation } from './phase.ts';
import type { Policy } from './policy.ts';

/**
 * How far an act of ours has got. `reserved`: its slot is reserved and nothing was sent. `inherited`: reserved by
 * another process, which may have sent it, or may yet. `sending`: on its way. `unsure`: the answer was lost.
 * `done`: the API server confirmed it, or the pod was seen to go.
 */
export type ActStage = 'reserved' | 'inherited' | 'sending' | 'unsure' | 'done';

/** An act on a node that has not healed: it holds one slot of the budget while the node is online. */
export interface Act {
  /** The pod that the act takes away; empty in a past act. */
  podUid: string;
  podName: string;
  podResourceVersion: string;
  /** Number of the rollout that it belongs to. */
  rollout: number;
  /** When its slot was reserved, epoch ms. */
  at: number;
  stage: ActStage;
  /** The older act, not healed, that this one is to repair: it comes back should this one be released. */
  repairs?: { rollout: number; at: number };
}

/** An act that was carried out and whose pod is no longer known. */
export const pastAct = (act: { rollout: number; at: number }): Act => ({
  podUid: '',
  podName: '',
  podResourceVersion: '',
  rollout: act.rollout,
  at: act.at,
  stage: 'done',
});

export interface SeenPod {
  facts: PodFacts;
  /** Since when we know it to be ready, epoch ms; 0 when it is not. */
  readySince: number;
  /** Since when we know of it, epoch ms. */
  seenAt: number;
  /** It was there when we took over: whether an act of another process made it is told by its own times only. */
  inherited: boolean;
}

/** Everything kept for one node. Times are epoch ms by our own clock where we saw the change happen. */
export interface NodeRecord {
  readonly name: string;
  node: NodeFacts | undefined;
  pods: SeenPod[];
  /** Since when the node is in its present readiness. */
  since: number;
  /** Since when the node has no available pod; 0 while it has one. */
  downSince: number;
  act: Act | undefined;
  /** Revision of the live pod that was seen last; undefined before the first. */
  ran: string | undefined;
  /** The act that healed last; with the strategy ota, the owner's act. */
  healed: { rollout: number; at: number } | undefined;
  /** The user resumed after this node's failure: it does not count until the node has worked again. */
  forgiven: boolean;
  refused: { until: number; tries: number; message: string } | undefined;
  /** May be updated under the partition. */
  member: boolean;
  view: View;
}

/** What the ledger counts and files a record by. Undefined phase: the node is not eligible, or has no Node object. */
export interface View {
  phase: Phase | undefined;
  cause: Cause | undefined;
  online: boolean;
  settled: boolean;
  /** Online, settled, and without an available pod. */
  down: boolean;
  /** Online with an act of ours that has not healed. */
  inFlight: boolean;
  /** In flight, and not with an old broken pod that nobody tends yet. */
  trying: boolean;
  /** At the target, or on its way there without return: counts first towards what a partition permits. */
  taken: boolean;
  suspect: boolean;
  /** Counts towards the breaker as a failure of a node that is online or that was lost. */
  failure: 'online' | 'lost' | undefined;
  /** The node's owner is offered the target revision. */
  asked: boolean;
  /** What has to be written to the live pod, `none` for taking it away; undefined while it says what it should. */
  announce: Announcement | 'none' | undefined;
  zone: string;
  /** When the view changes without any event; Infinity when it does not. */
  dueAt: number;
}

/** What all records of one DaemonSet are assessed against. */
export interface Context {
  policy: Policy;
  /** Hash label of the target revision; undefined until it is known. */
  targetHash: string | undefined;
  rollout: number;
  /** When the present rollout began, epoch ms; undefined when the target is the first that we know. */
  startedAt: number | undefined;
  /** With the strategy ota: the breaker keeps owners from updating. */
  withheld: boolean;
  /** Nodes and pods are still being listed: one that is absent may yet come. */
  firstSight: boolean;
}

const outside: View = {
  phase: undefined,
  cause: undefined,
  online: false,
  settled: false,
  down: false,
  inFlight: false,
  trying: false,
  taken: false,
  suspect: false,
  failure: undefined,
  asked: false,
  announce: undefined,
  zone: '',
  dueAt: Number.POSITIVE_INFINITY,
};

export const newRecord = (name: string): NodeRecord => ({
  name,
  node: undefined,
  pods: [],
  since: 0,
  downSince: 0,
  act: undefined,
  ran: undefined,
  healed: undefined,
  forgiven: false,
  refused: undefined,
  member: true,
  view: outside,
});

/** Terminating, or deleted by us with the watch still behind. */
const isGoing = ({ act }: NodeRecord, { facts }: SeenPod): boolean =>
  facts.terminating || (act?.stage === 'done' && act.podUid === facts.uid);

/** The node's one live pod, also while a terminating one is beside it. */
export const livePod = (record: NodeRecord): SeenPod | undefined => {
  let found: SeenPod | undefined;
  for (const pod of record.pods) {
    if (isGoing(record, pod)) continue;
    if (found) return undefined;
    found = pod;
  }
  return found;
};

const isCurrent = (pod: SeenPod | undefined, context: Context): boolean =>
  pod !== undefined && context.targetHash !== undefined && pod.facts.revision === context.targetHash;

const availableAt = (record: NodeRecord, context: Context): number => {
  // Old and new at once is a node that is not available: the native controller is still at work there.
  const [only, ...others] = record.pods;
  if (!only || others.length > 0 || isGoing(record, only) || !only.facts.ready) return Number.POSITIVE_INFINITY;
  return only.readySince + context.policy.minReadyMs;
};

const isCarriedOut = (record: NodeRecord, act: Act, context: Context): boolean => {
  const pod = record.pods.find(({ facts }) => facts.uid === act.podUid);
  return pod ? pod.facts.terminating : !context.firstSight;
};

// createdAt has whole seconds, and is written by another machine's clock.
const STARTED_SLACK_MS = 2_000;

/** The act that made the node's present pod of the target revision, healed. */
const lastHealed = (record: NodeRecord, pod: SeenPod, context: Context): NodeRecord['healed'] => {
  if (record.healed) return record.healed.rollout === context.rollout ? record.healed : undefined;
  // After a restart the pod's age tells, so that no list of healed acts has to be stored.
  if (!pod.inherited || context.startedAt === undefined) return undefined;
  const ofThisRollout = pod.seenAt >= context.startedAt - STARTED_SLACK_MS;
  return ofThisRollout ? { rollout: context.rollout, at: pod.seenAt } : undefined;
};

/**
 * Notes which revision the node runs. True when its owner brought it to the target: an act that is none of ours, needs no
 * slot and so counts as healed, but makes the node a suspect should it fall away soon after.
 */
export const noteRevision = (record: NodeRecord, context: Context): boolean => {
  const { ran, node } = record;
  const pod = livePod(record);
  if (!pod) return false;
  record.ran = pod.facts.revision;
  const replaced = ran !== undefined && ran !== record.ran && isCurrent(pod, context);
  if (!replaced || context.policy.strategy !== 'ota' || !node?.ready || !node.eligible) return false;
  record.healed = { rollout: context.rollout, at: pod.seenAt };
  return true;
};

/** The clock was set back to `now`: no time that was is later. */
export const setBack = (record: NodeRecord, now: number): void => {
  record.since = Math.min(record.since, now);
  record.downSince = Math.min(record.downSince, now);
  record.pods = record.pods.map((pod) => ({
    ...pod,
    readySince: Math.min(pod.readySince, now),
    seenAt: Math.min(pod.seenAt, now),
  }));
  if (record.act) record.act = { ...record.act, at: Math.min(record.act.at, now) };
  if (record.healed) record.healed = { ...record.healed, at: Math.min(record.healed.at, now) };
  if (record.refused) record.refused = { ...record.refused, until: Math.min(record.refused.until, now) };
};

/**
 * Moves the record's own state on: whether its act was carried out, healed, or came to life again because the node went
 * offline soon after it. Returns the act that healed, for the measure of how long a node is down.
 */
export const advance = (record: NodeRecord, context: Context, now: number): Act | undefined => {
  const { node } = record;
  if (record.act && isCarriedOut(record, record.act, context)) record.act = { ...record.act, stage: 'done' };
  const { act } = record;
  if (act?.stage === 'done') record.refused = undefined;
  const available = now >= availableAt(record, context);
  if (available) record.downSince = 0;
  else if (record.downSince === 0) record.downSince = now;
  if (!node?.eligible) {
    if (!node && context.firstSight) return undefined;
    // An act that may still be on its way stays on file until it is taken back properly.
    if (act?.stage === 'done') record.act = undefined;
    record.healed = undefined;
    return undefined;
  }
  const pod = livePod(record);
  const current = isCurrent(pod, context);
  if (available && current && node.ready) record.forgiven = false;
  if (act) {
    const healed =
      act.stage === 'done' &&
      node.ready &&
      available &&
      pod?.facts.uid !== act.podUid &&
      (current || act.rollout !== context.rollout);
    if (healed) {
      record.act = undefined;
      record.healed = { rollout: act.rollout, at: act.at };
      return act;
    }
    return undefined;
  }
  // A node that falls away soon after a healed act is a suspect.
  if (!node.ready && pod && current) {
    const healed = lastHealed(record, pod, context);
    if (healed && record.since - healed.at <= context.policy.suspectWindowMs) record.act = pastAct(healed);
  }
  return undefined;
};

const failureOf = (
  record: NodeRecord,
  context: Context,
  pod: SeenPod | undefined,
  deadlineAt: number,
  now: number,
): Situation['failure'] => {
  const { act } = record;
  if (!pod) return undefined;
  if (isCurrent(pod, context)) {
    if (now >= availableAt(record, context)) return undefined;
    return pod.facts.trouble ?? (now >= deadlineAt ? 'deadline' : undefined);
  }
  const replaced = act?.stage === 'done' && act.rollout === context.rollout && act.podUid !== pod.facts.uid;
  return replaced ? 'came-back-old' : undefined;
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
  if (!node?.eligible) return announce ? { ...outside, announce } : outside;
  const byOthers = policy.strategy !== 'auto';
  const readyAt = availableAt(record, context);
  const available = now >= readyAt;
  const settledAt = node.ready ? record.since + policy.settleMs : Number.POSITIVE_INFINITY;
  const settled = now >= settledAt;

  const deadlineAt = Math.max(record.downSince, record.since, pod?.seenAt ?? 0) + policy.progressDeadlineMs;
  const failure = node.ready ? failureOf(record, context, pod, deadlineAt, now) : undefined;

  const windowEndsAt = act ? act.at + policy.suspectWindowMs : 0;
  const fellAway =
    !node.ready && act?.stage === 'done' && act.rollout === context.rollout && record.since <= windowEndsAt;
  const lost = fellAway && now >= windowEndsAt;

  const refused = record.refused !== undefined && now < record.refused.until;
  const { phase, cause } = phaseOf({
    online: node.ready,
    // Nobody here acts on a node that has only just come back.
    settled: settled || byOthers,
    pods: record.pods.length,
    livePods: record.pods.filter((each) => !isGoing(record, each)).length,
    current,
    ready: pod?.facts.ready ?? false,
    available,
    act: actSituation(act, context),
    replacing: byOthers && record.ran !== undefined && record.ran !== context.targetHash,
    suspect: fellAway,
    lost,
    failure,
    refused,
    selected: node.selected,
    member: record.member,
  });

  const times = [
    node.ready && !settled ? settledAt : undefined,
    available ? undefined : readyAt,
    node.ready && current && !available && failure === undefined ? deadlineAt : undefined,
    fellAway && !lost ? windowEndsAt : undefined,
    refused ? record.refused?.until : undefined,
  ];
  const inFlight = node.ready && act !== undefined && !(failure === 'came-back-old' && available);
  return {
    phase,
    cause,
    online: node.ready,
    settled,
    down: settled && !available,
    inFlight,
    trying: inFlight && phase !== 'broken' && phase !== 'held',
    taken: current || (act?.stage === 'done' && act.rollout === context.rollout),
    suspect: fellAway && !lost && !record.forgiven,
    failure: record.forgiven ? undefined : lost ? 'lost' : failure ? 'online' : undefined,
    asked: typeof wanted === 'object' && wanted.reason === 'NewRevision',
    announce,
    zone: node.zone,
    dueAt: times.reduce<number>((least, time) => Math.min(least, time ?? least), Number.POSITIVE_INFINITY),
  };
};
