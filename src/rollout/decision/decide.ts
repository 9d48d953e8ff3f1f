import type { PodFacts } from '../facts/types.ts';
import { type Breaker, breakerOf } from '../ledger/breaker.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Halt } from '../ledger/state.ts';
import { managerReplacesPods, type Policy, surges } from '../policy/policy.ts';
import { isOutOfService, livePod, mayHaveStarted, type NodeRecord, type UpdateKind } from '../record/record.ts';
import { budgetOf, roomForBroken, roomForHealthy, type Usage } from './budget.ts';
import type { Hold, OutsideHold } from './hold.ts';
import { imageActions } from './image-actions.ts';

/**
 * What is to be done now. `reserve` must be written to the DaemonRollout with a compare-and-swap before the ledger is
 * told; `delete`, `change` and `surge` carry out what was reserved, with the pod's UID and resourceVersion as preconditions
 * of the first write to it; `release` gives a slot back, after a write of our own to the pod where another process may still carry it out (`fence`).
 */
export type Action =
  | { type: 'reserve'; node: string; pod: PodFacts; kind?: UpdateKind }
  | { type: 'delete'; node: string }
  | { type: 'change'; node: string }
  | { type: 'surge'; node: string }
  /** The old one of two pods, or the one that works less, is deleted in the slot of the act that made the other. */
  | { type: 'retire'; node: string; pod: PodFacts }
  | { type: 'release'; node: string; fence: boolean }
  | { type: 'halt'; halt: Halt }
  | { type: 'resume'; value: string }
  | { type: 'rollback'; to: { name: string; hash: string } }
  | { type: 'complete' }
  /** Pods' condition PodNeedUpgrade is to be brought to what it should say: those of the ledger's `unannounced`. */
  | { type: 'announce'; pods: number }
  /** The node's pod is to ask for the images of the target, or for nothing any more. */
  | { type: 'ask'; node: string }
  | { type: 'unask'; node: string };

export interface Summary {
  budget: number;
  usage: Usage;
  breaker: Breaker;
  /** Undefined: acts may begin. */
  hold: Hold | undefined;
  /** Every online eligible node runs the target revision, available, and none is in flight. */
  complete: boolean;
}

export interface Decision {
  actions: Action[];
  /** When to decide again even if nothing happens, epoch ms; Infinity for never. */
  wakeAt: number;
  summary: Summary;
}

/** One decision reserves at most so many slots: the next follows as soon as these are written. */
const LARGEST_WAVE = 500;

const FIRST_NODES = 10;

const ownerDecides = ({ otaDeadline, otaDeadlineSpreadMs }: Policy): Hold => ({
  kind: 'owner',
  ...(otaDeadline !== undefined && {
    deadline: { at: new Date(otaDeadline).toISOString(), spreadMs: otaDeadlineSpreadMs },
  }),
});

/** The gates of a whole rollout in their order; the first that is shut is the one that is told. */
const holdOf = (
  ledger: Ledger,
  outside: OutsideHold | undefined,
  budget: number,
  breaker: Breaker,
): Hold | undefined => {
  const { policy, state } = ledger;
  if (outside) return outside;
  if (!state.target) return { kind: 'unobserved' };
  if (policy.strategy === 'manual') return { kind: 'manual' };
  if (policy.paused) return { kind: 'paused' };
  if (state.halted) return { kind: 'halted', halt: state.halted };
  if (budget === 0 && managerReplacesPods(policy)) return { kind: 'frozen' };
  if (breaker.open) return { kind: 'waiting', breaker };
  return policy.strategy === 'ota' ? ownerDecides(policy) : undefined;
};

/** Is, or was about to be, its pod made anew because a change in place did not come to its end? */
const isRecreated = ({ state }: Ledger, record: NodeRecord): boolean => {
  const { update, status } = record;
  const pod = livePod(record)?.facts;
  const works = pod?.ready && pod.revision === state.target?.hash;
  const reserved = update !== undefined && update.stage !== 'done';
  const anew = reserved && update.repairs?.kind === 'in-place' && update.repairs.rollout === state.rollout;
  return status.down && !works && (status.overdue || anew);
};

/** May this node's old pod be replaced, slots aside? Asked when a slot is reserved and again right before the act. */
export const mayUpdate = (ledger: Ledger, record: NodeRecord): boolean => {
  const { node, status } = record;
  const { policy, state } = ledger;
  const pod = livePod(record);
  if (!node || status.phase === undefined || !status.settled || !node.selected || status.asked) return false;
  // Beside a pod that is still going the controller of the pods would create no new one.
  if (!pod || (record.pods.length !== 1 && !surges(policy))) return false;
  if (isRecreated(ledger, record)) return true;
  const targetHash = state.target?.hash;
  return record.partitionAllows && pod.facts.revision !== targetHash && !status.waitsForImages;
};

/** How a node's pod is to be replaced; undefined: by deleting it. */
const updateKindFor = (ledger: Ledger, record: NodeRecord, pod: PodFacts): UpdateKind | undefined => {
  const { policy, state } = ledger;
  if (surges(policy)) return 'surge';
  const fits =
    pod.hasInPlaceGate && !pod.preparingDelete && !pod.finished && state.target?.inPlaceFrom?.has(pod.revision);
  return policy.inPlace && fits && !isRecreated(ledger, record) ? 'in-place' : undefined;
};

const reservation = (ledger: Ledger, record: NodeRecord, pod: PodFacts): Action => {
  const kind = updateKindFor(ledger, record, pod);
  return { type: 'reserve', node: record.name, pod, ...(kind && { kind }) };
};

const isComplete = ({ state, tally }: Ledger): boolean =>
  state.target !== undefined && tally.phases.updated === tally.online && tally.inFlight === 0;

/** Changes of the rollout as a whole; at most one a decision, so that each is decided on what the one before left. */
const transitionOf = (ledger: Ledger, breaker: Breaker, complete: boolean, now: number): Action | undefined => {
  const { policy, state } = ledger;
  const { target, halted, lastComplete } = state;
  if (!target) return undefined;
  const resumed = policy.resume?.hash === target.hash ? policy.resume.value : undefined;
  if (resumed !== undefined && resumed !== state.resumed) return { type: 'resume', value: resumed };
  if (halted) {
    const mayRollBack = policy.onFailure === 'rollback' && halted.reason === 'Failures' && !policy.paused;
    const back = mayRollBack ? lastComplete : undefined;
    return back && back.hash !== target.hash ? { type: 'rollback', to: back } : undefined;
  }
  if (breaker.mustHalt && policy.strategy !== 'manual') {
    const nodes = [...ledger.failing()].map((record) => record.name).toSorted();
    return { type: 'halt', halt: { at: now, reason: 'Failures', nodes: nodes.slice(0, FIRST_NODES) } };
  }
  const seen = ledger.tally.phases.updated > 0;
  const told = state.finishedAt !== undefined && lastComplete?.hash === target.hash;
  return complete && seen && !told ? { type: 'complete' } : undefined;
};

const byName = (a: NodeRecord, b: NodeRecord): number => (a.name < b.name ? -1 : 1);

const actionTypes = { delete: 'delete', 'in-place': 'change', surge: 'surge' } as const;

/** What becomes of acts whose slot is reserved and that were not seen to be carried out. */
const settleUnconfirmed = (ledger: Ledger, mayBegin: boolean, budget: number, usage: Usage, now: number): Action[] => {
  const actions: Action[] = [];
  for (const record of [...ledger.unconfirmed()].toSorted(byName)) {
    const { update } = record;
    if (!update || update.stage === 'sending') continue;
    const pod = livePod(record)?.facts;
    const { down, inFlight, trying } = record.status;
    const others: Usage = {
      inFlight: usage.inFlight - (inFlight ? 1 : 0),
      trying: usage.trying - (trying ? 1 : 0),
      occupied: usage.occupied - (inFlight || down ? 1 : 0),
    };
    const room = down
      ? roomForBroken(budget, others, update.repairs !== undefined && pod?.ready !== true)
      : roomForHealthy(budget, others, surges(ledger.policy));
    const wanted =
      mayBegin &&
      room &&
      update.rollout === ledger.state.rollout &&
      pod?.uid === update.podUid &&
      mayUpdate(ledger, record);
    if (!wanted) {
      const fence = mayHaveStarted(update);
      actions.push({ type: 'release', node: record.name, fence });
      // It holds its slot until the fence stands: only then is it certain that it was not carried out.
      if (fence) continue;
      usage.trying = others.trying;
      // The older act that it was to repair comes back, and holds the slot on; so does what was begun on the pod.
      if (update.repairs || isOutOfService(record)) continue;
      usage.inFlight = others.inFlight;
      if (!down) usage.occupied = others.occupied;
    } else if (now < (record.refused?.until ?? now)) {
      // Neither repeated nor taken back before its back-off ends: the view may not show yet what became of it.
    } else if (pod.resourceVersion !== update.podResourceVersion || updateKindFor(ledger, record, pod) !== update.kind)
      actions.push(reservation(ledger, record, pod));
    else actions.push({ type: actionTypes[update.kind ?? 'delete'], node: record.name });
  }
  return actions;
};

const surgedOutDeletions = (ledger: Ledger): Action[] =>
  [...ledger.withSurgedOutPod()]
    .toSorted(byName)
    .flatMap(({ name, status }): Action[] =>
      status.surgedOutPod ? [{ type: 'retire', node: name, pod: status.surgedOutPod }] : [],
    );

/** Gives free slots away: nodes that are down already first, then healthy ones. */
const assignSlots = (ledger: Ledger, budget: number, usage: Usage): Action[] => {
  const actions: Action[] = [];
  const reserve = (record: NodeRecord): void => {
    const pod = livePod(record);
    if (pod) actions.push(reservation(ledger, record, pod.facts));
  };
  for (const record of ledger.candidates('repair')) {
    if (actions.length >= LARGEST_WAVE || !roomForBroken(budget, usage, true)) break;
    const others: Usage = { ...usage, inFlight: usage.inFlight - 1 };
    if (livePod(record)?.facts.ready && !roomForBroken(budget, others, false)) continue;
    reserve(record);
    usage.trying += 1;
  }
  for (const record of ledger.candidates('broken')) {
    if (actions.length >= LARGEST_WAVE || !roomForBroken(budget, usage, false)) break;
    reserve(record);
    usage.inFlight += 1;
  }
  const surging = surges(ledger.policy);
  if (!roomForHealthy(budget, usage, surging)) return actions;
  for (const record of ledger.candidates('outdated')) {
    if (actions.length >= LARGEST_WAVE || !roomForHealthy(budget, usage, surging)) break;
    reserve(record);
    usage.inFlight += 1;
    usage.occupied += 1;
  }
  return actions;
};

/**
 * The decision: pure, and the only one. Controllers carry it out, status and metrics show its summary, `plan` prints it,
 * the simulator and the property tests call it. The ledger must have been ticked to `now`.
 */
export const decide = (ledger: Ledger, outside: OutsideHold | undefined, now: number): Decision => {
  const { policy, tally, state } = ledger;
  // Owners who act themselves keep to no budget, nor does a user who deletes pods.
  const budget = managerReplacesPods(policy) ? budgetOf(policy, tally) : 0;
  const breaker = breakerOf(policy, tally, state.acted, budget);
  const complete = outside === undefined && isComplete(ledger);
  const hold = holdOf(ledger, outside, budget, breaker);
  const usage: Usage = { inFlight: tally.inFlight, trying: tally.trying, occupied: tally.occupied };
  const summary: Summary = { budget, usage: { ...usage }, breaker, hold, complete };
  const wakeAt = ledger.nextDueAt();

  // What we see may be incomplete: nothing is begun, and nothing is taken back either.
  if (outside?.kind === 'unsynced') return { actions: [], wakeAt, summary };
  const turn = outside ? undefined : transitionOf(ledger, breaker, complete, now);
  // What owners have agreed to goes on; the others are no candidates.
  const held = hold !== undefined && !(hold.kind === 'owner' && managerReplacesPods(policy));
  const mayBegin = !held && turn === undefined;
  const actions = settleUnconfirmed(ledger, mayBegin, budget, usage, now);
  if (turn) actions.unshift(turn);
  if (mayBegin) actions.push(...surgedOutDeletions(ledger), ...assignSlots(ledger, budget, usage));
  const { size } = ledger.unannounced();
  if (!outside && size > 0) actions.push({ type: 'announce', pods: size });
  if (!outside && !turn) {
    const taken = new Set(actions.flatMap((action) => (action.type === 'reserve' ? [action.node] : [])));
    actions.push(...imageActions(ledger, hold, budget, taken));
  }
  return { actions, wakeAt, summary };
};
