import type { UpdateKind } from '../../words/index.ts';
import type { PodFacts } from '../facts/pod.ts';
import type { CandidateQueue } from '../fleet/indexes.ts';
import type { Ledger } from '../fleet/ledger-types.ts';
import { boundVersion, isOutOfService } from '../node/in-place.ts';
import { livePod } from '../node/pods.ts';
import type { NodeRecord } from '../node/record.ts';
import { isCarriedOut, isSending, mayHaveStarted, type NodeUpdate } from '../node/update.ts';
import { noScopes, type Scopes } from '../plan/scopes.ts';
import { surges } from '../policy/policy.ts';
import type { Action, Reason } from './action.ts';
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

/** Why a reserved update is not carried out; undefined if it is. `pod`: the node's live pod. */
const reasonAgainst = (
  ledger: Ledger,
  record: NodeRecord,
  update: NodeUpdate,
  pod: PodFacts | undefined,
): Reason | undefined => {
  const { node, status, partitionAllows } = record;
  const { policy, state } = ledger;
  if (update.rollout !== state.rollout) return 'other-target';
  if (pod?.uid !== update.podUid) return 'other-pod';
  if (!node || status.phase === undefined) return 'not-eligible';
  if (!status.settled) return 'not-settled';
  if (!node.selected) return 'node-selector';
  if (status.owner.asked) return 'owner';
  if (!status.allowedByPlan) return 'plan';
  // While a pod terminates, the controller of the pods would not create a new one beside it.
  if (record.pods.length !== 1 && !surges(policy)) return 'pods';
  if (isRecreated(ledger, record)) return undefined;
  if (pod.revision === state.target?.hash) return 'current';
  if (!partitionAllows) return 'partition';
  return status.images.required ? 'images' : undefined;
};

/** Why a node is updated. */
const reasonFor = (ledger: Ledger, record: NodeRecord): Reason => {
  const { update, status } = record;
  if (isRecreated(ledger, record)) return 'overdue';
  if (!status.down) return 'outdated';
  return update && (isCarriedOut(update) || update.repairs) ? 'broken' : 'down';
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

const reservation = (ledger: Ledger, record: NodeRecord, pod: PodFacts, because: Reason): Action => {
  const kind = updateKindFor(ledger, record, pod);
  return { type: 'reserve', node: record.name, pod, ...(kind && { kind }), because };
};

const actionTypes = { delete: 'delete', 'in-place': 'update-in-place', surge: 'surge' } as const;

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
    const { inFlight, active, down } = record.status;
    const own: Usage = { inFlight: inFlight ? 1 : 0, active: active ? 1 : 0, occupied: inFlight || down ? 1 : 0 };
    const { scopes } = record.status;
    const hasRoom = down
      ? room.forBroken(scopes, update.repairs !== undefined && pod?.ready !== true, own) &&
        (pod?.ready !== true || room.inFirstWave(own))
      : room.forHealthy(scopes, own);
    const because = !mayStart ? 'held' : !hasRoom ? 'no-room' : reasonAgainst(ledger, record, update, pod);
    if (because || !pod) {
      const fence = mayHaveStarted(update);
      actions.push({ type: 'release', node: record.name, fence, because: because ?? 'other-pod' });
      // It holds its slot until the fence is written: only then is it certain that it was not carried out.
      if (fence) continue;
      room.take(scopes, { inFlight: 0, active: -own.active, occupied: 0 });
      // The slot stays in use for the older update that this one was to repair, or for what was started on the pod.
      if (update.repairs || isOutOfService(record)) continue;
      room.take(scopes, { inFlight: -own.inFlight, active: 0, occupied: down ? 0 : -own.occupied });
    } else if (now < (record.refused?.until ?? now)) {
      // Neither retry nor release before the back-off ends: the cache may not show the outcome yet.
    } else if (pod.resourceVersion !== boundVersion(record, now) || updateKindFor(ledger, record, pod) !== update.kind)
      actions.push(reservation(ledger, record, pod, 'pod-changed'));
    else
      actions.push({
        type: actionTypes[update.kind ?? 'delete'],
        node: record.name,
        because: reasonFor(ledger, record),
      });
  }
  return actions;
};

/** Deletes the pods that a surge has replaced. */
export const deleteSurgedOutPods = (ledger: Ledger): Action[] =>
  [...ledger.withSurgedOutPod()]
    .toSorted(byName)
    .flatMap(({ name, status: { surgedOutPod } }): Action[] =>
      surgedOutPod ? [{ type: 'delete-old', node: name, pod: surgedOutPod, because: 'surged-out' }] : [],
    );

const REPAIR: Usage = { inFlight: 0, active: 1, occupied: 0 };
const BROKEN: Usage = { inFlight: 1, active: 1, occupied: 0 };
const HEALTHY: Usage = { inFlight: 1, active: 1, occupied: 1 };

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
      if (pod) actions.push(reservation(ledger, record, pod.facts, reasonFor(ledger, record)));
      room.take(record.status.scopes, use);
    }
  };
  // A ready pod that is about to be available competes like any other, and works as far as a bad version is concerned.
  const isReady = (record: NodeRecord): boolean => livePod(record)?.facts.ready === true;
  const isUntried = (record: NodeRecord): boolean => isReady(record) && !room.inFirstWave();
  const isLeftAlone = (record: NodeRecord): boolean =>
    isUntried(record) || (isReady(record) && !room.forBroken(record.status.scopes, false, BROKEN));
  reserveFrom('repair', REPAIR, (scopes) => room.forBroken(scopes, true), isLeftAlone);
  reserveFrom('broken', BROKEN, (scopes) => room.forBroken(scopes, false), isUntried);
  reserveFrom('outdated', HEALTHY, (scopes) => room.forHealthy(scopes));
  return actions;
};
