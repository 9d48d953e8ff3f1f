import type { PodFacts } from '../facts/pod.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { surges } from '../policy/policy.ts';
import { isOutOfService } from '../record/in-place.ts';
import { livePod } from '../record/pods.ts';
import type { NodeRecord } from '../record/record.ts';
import { mayHaveStarted, type UpdateKind } from '../record/update.ts';
import { roomForBroken, roomForHealthy, type Usage } from './budget.ts';
import type { Action } from './decide.ts';

/** One decision reserves at most this many slots. The next decision follows as soon as they are written. */
const MAX_RESERVATIONS = 500;

const byName = (a: NodeRecord, b: NodeRecord): number => (a.name < b.name ? -1 : 1);

/** Is the pod being recreated, or about to be, because its in-place update timed out? */
const isRecreated = ({ state }: Ledger, record: NodeRecord): boolean => {
  const { update, status } = record;
  const pod = livePod(record)?.facts;
  const works = pod?.ready && pod.revision === state.target?.hash;
  const reserved = update !== undefined && update.stage !== 'done';
  const isReservedForIt = reserved && update.repairs?.kind === 'in-place' && update.repairs.rollout === state.rollout;
  return status.down && !works && (status.overdue || isReservedForIt);
};

/** May this node's old pod be replaced, given a slot? Checked when reserving the slot, and again right before the update. */
const mayUpdate = (ledger: Ledger, record: NodeRecord): boolean => {
  const { node, status } = record;
  const { policy, state } = ledger;
  const pod = livePod(record);
  if (!node || status.phase === undefined || !status.settled || !node.selected || status.owner.asked) return false;
  // While a pod terminates, the controller of the pods would not create a new one beside it.
  if (!pod || (record.pods.length !== 1 && !surges(policy))) return false;
  if (isRecreated(ledger, record)) return true;
  const targetHash = state.target?.hash;
  return record.partitionAllows && pod.facts.revision !== targetHash && !status.images.required;
};

/** How to replace a node's pod; undefined: by deleting it. */
const updateKindFor = (ledger: Ledger, record: NodeRecord, pod: PodFacts): UpdateKind | undefined => {
  const { policy, state } = ledger;
  if (surges(policy)) return 'surge';
  const canUpdateInPlace =
    pod.hasInPlaceGate && !pod.preparingDelete && !pod.finished && state.target?.inPlaceFrom?.has(pod.revision);
  return policy.inPlace && canUpdateInPlace && !isRecreated(ledger, record) ? 'in-place' : undefined;
};

const reservation = (ledger: Ledger, record: NodeRecord, pod: PodFacts): Action => {
  const kind = updateKindFor(ledger, record, pod);
  return { type: 'reserve', node: record.name, pod, ...(kind && { kind }) };
};

const actionTypes = { delete: 'delete', 'in-place': 'change', surge: 'surge' } as const;

/**
 * Carries out reserved updates that are still wanted and releases the others. `usage` is reduced by the slots that become
 * free at once.
 */
export const resolveReservations = (
  ledger: Ledger,
  mayStart: boolean,
  budget: number,
  usage: Usage,
  now: number,
): Action[] => {
  const actions: Action[] = [];
  for (const record of [...ledger.unconfirmed()].toSorted(byName)) {
    const { update } = record;
    if (!update || update.stage === 'sending') continue;
    const pod = livePod(record)?.facts;
    const { inFlight, trying, down } = record.status;
    const others: Usage = {
      inFlight: usage.inFlight - (inFlight ? 1 : 0),
      trying: usage.trying - (trying ? 1 : 0),
      occupied: usage.occupied - (inFlight || down ? 1 : 0),
    };
    const hasRoom = down
      ? roomForBroken(budget, others, update.repairs !== undefined && pod?.ready !== true)
      : roomForHealthy(budget, others, surges(ledger.policy));
    const isWanted =
      mayStart &&
      hasRoom &&
      update.rollout === ledger.state.rollout &&
      pod?.uid === update.podUid &&
      mayUpdate(ledger, record);
    if (!isWanted) {
      const fence = mayHaveStarted(update);
      actions.push({ type: 'release', node: record.name, fence });
      // It holds its slot until the fence is written: only then is it certain that it was not carried out.
      if (fence) continue;
      usage.trying = others.trying;
      // The slot stays in use for the older update that this one was to repair, or for what was started on the pod.
      if (update.repairs || isOutOfService(record)) continue;
      usage.inFlight = others.inFlight;
      if (!down) usage.occupied = others.occupied;
    } else if (now < (record.refused?.until ?? now)) {
      // Neither retry nor release before the back-off ends: the cache may not show the outcome yet.
    } else if (pod.resourceVersion !== update.podResourceVersion || updateKindFor(ledger, record, pod) !== update.kind)
      actions.push(reservation(ledger, record, pod));
    else actions.push({ type: actionTypes[update.kind ?? 'delete'], node: record.name });
  }
  return actions;
};

/** Deletes the pods that a surge has replaced. */
export const deleteSurgedOutPods = (ledger: Ledger): Action[] =>
  [...ledger.withSurgedOutPod()]
    .toSorted(byName)
    .flatMap(({ name, status: { surgedOutPod } }): Action[] =>
      surgedOutPod ? [{ type: 'retire', node: name, pod: surgedOutPod }] : [],
    );

/** Reserves free slots: first for nodes that are down already, then for healthy ones. */
export const reserveSlots = (ledger: Ledger, budget: number, usage: Usage): Action[] => {
  const actions: Action[] = [];
  const reserve = (record: NodeRecord): void => {
    const pod = livePod(record);
    if (pod) actions.push(reservation(ledger, record, pod.facts));
  };
  for (const record of ledger.candidates('repair')) {
    if (actions.length >= MAX_RESERVATIONS || !roomForBroken(budget, usage, true)) break;
    const others: Usage = { ...usage, inFlight: usage.inFlight - 1 };
    if (livePod(record)?.facts.ready && !roomForBroken(budget, others, false)) continue;
    reserve(record);
    usage.trying += 1;
  }
  for (const record of ledger.candidates('broken')) {
    if (actions.length >= MAX_RESERVATIONS || !roomForBroken(budget, usage, false)) break;
    reserve(record);
    usage.inFlight += 1;
  }
  const surging = surges(ledger.policy);
  if (!roomForHealthy(budget, usage, surging)) return actions;
  for (const record of ledger.candidates('outdated')) {
    if (actions.length >= MAX_RESERVATIONS || !roomForHealthy(budget, usage, surging)) break;
    reserve(record);
    usage.inFlight += 1;
    usage.occupied += 1;
  }
  return actions;
};
