import type { UpdateKind } from '../../words/index.ts';
import type { PodFacts } from '../facts/pod.ts';
import type { CandidateQueue } from '../fleet/indexes.ts';
import type { Ledger } from '../fleet/ledger.ts';
import { boundVersion, isOutOfService } from '../node/in-place.ts';
import { livePod } from '../node/pods.ts';
import type { NodeRecord } from '../node/record.ts';
import { isCarriedOut, isSending, mayHaveStarted } from '../node/update.ts';
import { type Scopes, noScopes } from '../plan/scopes.ts';
import { surges } from '../policy/policy.ts';
import type { Action } from './action.ts';
import type { Room, Usage } from './budget.ts';

/** One decision reserves at most this many slots. The next decision follows as soon as they are written. */
const MAX_RESERVATIONS = 500;

const byName = (a: NodeRecord, b: NodeRecord): number => (a.name < b.name ? -1 : 1);

/** Is the pod being recreated, or about to be, because its in-place update timed out? */
const isRecreated = ({ state }: Ledger, record: NodeRecord): boolean => {
  const { update, status } = record;
  const pod = livePod(record)?.facts;
  const works = pod?.ready && pod.revision === state.target?.hash;
  const isReservedForIt =
    update !== undefined &&
    !isCarriedOut(update) &&
    update.repairs?.kind === 'in-place' &&
    update.repairs.rollout === state.rollout;
  return status.down && !works && (status.overdue || isReservedForIt);
};

/** May this node's old pod be replaced, given a slot? Checked when reserving the slot, and again right before the update. */
const mayUpdate = (ledger: Ledger, record: NodeRecord): boolean => {
  const { node, status } = record;
  const { policy, state } = ledger;
  const pod = livePod(record);
  if (!node || status.phase === undefined || !status.settled || !node.selected || status.owner.asked) return false;
  if (!status.mayBegin) return false;
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
  const { notInPlace } = record;
  const isRefused = notInPlace?.podUid === pod.uid && notInPlace.rollout === state.rollout;
  return policy.inPlace && canUpdateInPlace && !isRefused && !isRecreated(ledger, record) ? 'in-place' : undefined;
};

const reservation = (ledger: Ledger, record: NodeRecord, pod: PodFacts): Action => {
  const kind = updateKindFor(ledger, record, pod);
  return { type: 'reserve', node: record.name, pod, ...(kind && { kind }) };
};

const actionTypes = { delete: 'delete', 'in-place': 'change', surge: 'surge' } as const;

/**
 * Carries out reserved updates that are still wanted and releases the others. `room` grows by the slots that become free at
 * once.
 */
export const resolveReservations = (ledger: Ledger, mayStart: boolean, room: Room, now: number): Action[] => {
  const actions: Action[] = [];
  for (const record of [...ledger.unconfirmed()].toSorted(byName)) {
    const { update } = record;
    if (!update || isSending(update)) continue;
    const pod = livePod(record)?.facts;
    const { inFlight, trying, down } = record.status;
    const own: Usage = { inFlight: inFlight ? 1 : 0, trying: trying ? 1 : 0, occupied: inFlight || down ? 1 : 0 };
    const { scopes } = record.status;
    const hasRoom = down
      ? room.forBroken(scopes, update.repairs !== undefined && pod?.ready !== true, own)
      : room.forHealthy(scopes, own);
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
      room.take(scopes, { inFlight: 0, trying: -own.trying, occupied: 0 });
      // The slot stays in use for the older update that this one was to repair, or for what was started on the pod.
      if (update.repairs || isOutOfService(record)) continue;
      room.take(scopes, { inFlight: -own.inFlight, trying: 0, occupied: down ? 0 : -own.occupied });
    } else if (now < (record.refused?.until ?? now)) {
      // Neither retry nor release before the back-off ends: the cache may not show the outcome yet.
    } else if (pod.resourceVersion !== boundVersion(record, now) || updateKindFor(ledger, record, pod) !== update.kind)
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

const REPAIR: Usage = { inFlight: 0, trying: 1, occupied: 0 };
const BROKEN: Usage = { inFlight: 1, trying: 0, occupied: 0 };
const HEALTHY: Usage = { inFlight: 1, trying: 0, occupied: 1 };

/** Reserves free slots: first for nodes that are down already, then for healthy ones. */
export const reserveSlots = (ledger: Ledger, room: Room): Action[] => {
  const actions: Action[] = [];
  const reserveFrom = (
    queue: CandidateQueue,
    use: Usage,
    hasRoom: (scopes: Scopes) => boolean,
    waits: (record: NodeRecord) => boolean = () => false,
  ): void => {
    if (!hasRoom(noScopes)) return;
    for (const record of ledger.candidates(queue, hasRoom)) {
      const pod = livePod(record);
      if (actions.length >= MAX_RESERVATIONS || !hasRoom(noScopes)) return;
      if (waits(record)) continue;
      if (pod) actions.push(reservation(ledger, record, pod.facts));
      room.take(record.status.scopes, use);
    }
  };
  // A ready pod that is about to be available competes like any other.
  const isLeftAlone = (record: NodeRecord): boolean =>
    livePod(record)?.facts.ready === true && !room.forBroken(record.status.scopes, false, BROKEN);
  reserveFrom('repair', REPAIR, (scopes) => room.forBroken(scopes, true), isLeftAlone);
  reserveFrom('broken', BROKEN, (scopes) => room.forBroken(scopes, false));
  reserveFrom('outdated', HEALTHY, (scopes) => room.forHealthy(scopes));
  return actions;
};
