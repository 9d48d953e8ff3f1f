import type { NodeFacts, PodFacts } from './facts.ts';
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

/** A pod with the time since when we know it to be ready (epoch ms; 0 when it is not). */
export interface SeenPod {
  facts: PodFacts;
  readySince: number;
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
  /** At the target, or under way to it: counts first towards what a partition permits. */
  taken: boolean;
  suspect: boolean;
  /** Counts towards the breaker as a failure of a node that is online or that was lost. */
  failure: 'online' | 'lost' | undefined;
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
}

const outside: View = {
  phase: undefined,
  cause: undefined,
  online: false,
  settled: false,
  down: false,
  inFlight: false,
  taken: false,
  suspect: false,
  failure: undefined,
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
  forgiven: false,
  refused: undefined,
  member: true,
  view: outside,
});

/** The node's one live pod, also while a terminating one is beside it. */
export const livePod = (record: NodeRecord): SeenPod | undefined => {
  let found: SeenPod | undefined;
  for (const pod of record.pods) {
    if (pod.facts.terminating) continue;
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
  if (!only || others.length > 0 || only.facts.terminating || !only.facts.ready) return Number.POSITIVE_INFINITY;
  return only.readySince + context.policy.minReadyMs;
};

const podUidIsGoing = (record: NodeRecord, uid: string): boolean =>
  record.pods.every((pod) => pod.facts.uid !== uid || pod.facts.terminating);

// createdAt has whole seconds, and is written by another machine's clock.
const STARTED_SLACK_MS = 2_000;

/**
 * Moves the record's own state on: whether its act was carried out, healed, or came to life again because the node went
 * offline soon after it. Returns the act that healed, for the measure of how long a node is down.
 */
export const advance = (record: NodeRecord, context: Context, now: number): Act | undefined => {
  const { node, act } = record;
  const available = now >= availableAt(record, context);
  if (available) record.downSince = 0;
  else if (record.downSince === 0) record.downSince = now;
  if (act && act.stage !== 'done' && podUidIsGoing(record, act.podUid)) act.stage = 'done';
  if (!node?.eligible) {
    // An act that may still be on its way stays on file until it is taken back properly.
    if (act?.stage === 'done') record.act = undefined;
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
      return act;
    }
    return undefined;
  }
  // A node that falls away soon after a healed act is a suspect. The new pod's age tells, so that a restart of ours
  // forgets none of them and no list of healed acts has to be stored.
  if (!node.ready && pod && current && context.startedAt !== undefined) {
    const { createdAt } = pod.facts;
    const updatedByUs = createdAt >= context.startedAt - STARTED_SLACK_MS;
    if (updatedByUs && record.since - createdAt <= context.policy.suspectWindowMs)
      record.act = pastAct({ rollout: context.rollout, at: createdAt });
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
  if (!node?.eligible) return outside;
  const pod = livePod(record);
  const current = isCurrent(pod, context);
  const readyAt = availableAt(record, context);
  const available = now >= readyAt;
  const settledAt = node.ready ? record.since + policy.settleMs : Number.POSITIVE_INFINITY;
  const settled = now >= settledAt;

  const deadlineAt = Math.max(act ? act.at : record.downSince, record.since) + policy.progressDeadlineMs;
  const failure = node.ready ? failureOf(record, context, pod, deadlineAt, now) : undefined;

  const windowEndsAt = act ? act.at + policy.suspectWindowMs : 0;
  const fellAway =
    !node.ready && act?.stage === 'done' && act.rollout === context.rollout && record.since <= windowEndsAt;
  const lost = fellAway && now >= windowEndsAt;

  const refused = record.refused !== undefined && now < record.refused.until;
  const { phase, cause } = phaseOf({
    online: node.ready,
    settled,
    pods: record.pods.length,
    livePods: record.pods.filter(({ facts }) => !facts.terminating).length,
    current,
    ready: pod?.facts.ready ?? false,
    available,
    act: actSituation(act, context),
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
  return {
    phase,
    cause,
    online: node.ready,
    settled,
    down: settled && !available,
    inFlight: node.ready && act !== undefined && !(failure === 'came-back-old' && available),
    taken: current || (act !== undefined && act.rollout === context.rollout),
    suspect: fellAway && !lost && !record.forgiven,
    failure: record.forgiven ? undefined : lost ? 'lost' : failure ? 'online' : undefined,
    zone: node.zone,
    dueAt: times.reduce<number>((least, time) => Math.min(least, time ?? least), Number.POSITIVE_INFINITY),
  };
};
