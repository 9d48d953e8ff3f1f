import {
  type DaemonRolloutReservation,
  type DaemonRolloutStatus,
  daemonRolloutLimits as limits,
} from '../../words/index.ts';
import { toTimestamp } from '../facts/metadata.ts';
import type { NodeRecord, NodeUpdate, PastUpdate } from '../node/record.ts';
import { pastUpdate, toPastUpdate } from '../node/update.ts';
import { restoreStages } from '../plan/stage-state.ts';
import { restoreHistory, saveHistory } from './history.ts';
import type { Ledger } from './ledger.ts';
import { newState, type RolloutState } from './state.ts';

/** The part of a DaemonRollout's status that the next leader continues from; the rest is for people. */
export type SavedRollout = Pick<
  DaemonRolloutStatus,
  | 'rollout'
  | 'target'
  | 'startedAt'
  | 'finishedAt'
  | 'allNodesUpdatedAt'
  | 'acted'
  | 'halted'
  | 'resumed'
  | 'lastComplete'
  | 'reservations'
  | 'forgiven'
  | 'rollback'
  | 'stages'
  | 'history'
>;

type Reservation = DaemonRolloutReservation;

const time = (ms: number): string => new Date(ms).toISOString();

/** If there are more updates than the object may hold, keep those of online nodes, which the next leader needs most. */
const mostNeeded = (records: NodeRecord[]): NodeRecord[] =>
  records.length <= limits.reservations
    ? records
    : records.toSorted((a, b) => Number(b.status.online) - Number(a.status.online)).slice(0, limits.reservations);

const byNode = (a: NodeRecord, b: NodeRecord): number => (a.name < b.name ? -1 : 1);

const savePast = ({
  kind,
  podUid = '',
  rollout,
  at,
  saidAt = at,
}: PastUpdate): NonNullable<Reservation['repairs']> => ({
  ...(kind && { kind, podUID: podUid }),
  rollout,
  at: time(saidAt),
});

const saveUpdate = (record: NodeRecord, update: NodeUpdate): Reservation => {
  // The next leader finds out itself that the pod is gone, and knows as little about who deleted it.
  const carriedOut = update.stage === 'done' && !update.unproven;
  return {
    node: record.name,
    ...(update.kind && { kind: update.kind }),
    podUID: update.podUid,
    ...(update.podRevision !== undefined && { podRevision: update.podRevision }),
    rollout: update.rollout,
    at: time(update.saidAt ?? update.at),
    carriedOut,
    ...(!carriedOut && { podName: update.podName }),
    ...((!carriedOut || update.kind === 'in-place') && { podResourceVersion: update.podResourceVersion }),
    ...(update.repairs ? { repairs: savePast(update.repairs) } : {}),
  };
};

export const save = (ledger: Ledger): SavedRollout & Required<Pick<SavedRollout, 'rollout' | 'history'>> => {
  const { state } = ledger;
  const { target, startedAt, finishedAt, allNodesUpdatedAt, halted, resumed, lastComplete } = state;
  const reservations = mostNeeded([...ledger.withUpdate()])
    .toSorted(byNode)
    .flatMap((record) => (record.update ? [saveUpdate(record, record.update)] : []));
  return {
    rollout: state.rollout,
    acted: state.acted,
    reservations,
    forgiven: [...ledger.forgiven()]
      .toSorted(byNode)
      .slice(0, limits.forgiven)
      .map((record) => record.name),
    ...(target && { target: { revision: target.name, hash: target.hash, number: target.number } }),
    ...(startedAt !== undefined && { startedAt: toTimestamp(startedAt) }),
    ...(finishedAt !== undefined && { finishedAt: toTimestamp(finishedAt) }),
    ...(allNodesUpdatedAt !== undefined && { allNodesUpdatedAt: toTimestamp(allNodesUpdatedAt) }),
    ...(halted && { halted: { ...halted, at: toTimestamp(halted.at) } }),
    ...(resumed !== undefined && { resumed }),
    ...(lastComplete && { lastComplete: { revision: lastComplete.name, hash: lastComplete.hash } }),
    ...(state.rollback && { rollback: true }),
    history: saveHistory(state),
  };
};

const restorePast = ({ kind, podUID, rollout, at }: NonNullable<Reservation['repairs']>): PastUpdate =>
  toPastUpdate({ ...(kind && { kind, podUid: podUID ?? '' }), rollout, at: Date.parse(at) });

const restoreUpdate = (saved: Reservation): NodeUpdate => {
  const past = restorePast(saved);
  const { repairs } = saved;
  return {
    ...(saved.carriedOut ? pastUpdate(past) : { ...past, podName: saved.podName ?? '', stage: 'inherited' as const }),
    podUid: saved.podUID,
    podResourceVersion: saved.podResourceVersion ?? '',
    ...(saved.podRevision !== undefined && { podRevision: saved.podRevision }),
    ...(repairs && { repairs: restorePast(repairs) }),
  };
};

export interface RestoredRollout {
  state: RolloutState;
  updates: Map<string, NodeUpdate>;
  forgiven: Set<string>;
}

/** Reads what `save` wrote; a rollout that has not been written yet starts from scratch. */
export const restore = (saved: Partial<SavedRollout> | undefined): RestoredRollout => {
  const { rollout = 0, target, startedAt, finishedAt, allNodesUpdatedAt, halted, resumed, lastComplete } = saved ?? {};
  return {
    state: {
      ...newState(),
      rollout,
      acted: saved?.acted ?? 0,
      target: target && { name: target.revision, hash: target.hash, number: target.number },
      startedAt: startedAt === undefined ? undefined : Date.parse(startedAt),
      finishedAt: finishedAt === undefined ? undefined : Date.parse(finishedAt),
      allNodesUpdatedAt: allNodesUpdatedAt === undefined ? undefined : Date.parse(allNodesUpdatedAt),
      halted: halted && {
        at: Date.parse(halted.at),
        reason: halted.reason,
        nodes: halted.nodes ?? [],
        ...(halted.check !== undefined && { check: halted.check }),
      },
      resumed,
      lastComplete: lastComplete && { name: lastComplete.revision, hash: lastComplete.hash },
      rollback: saved?.rollback ?? false,
      stages: restoreStages(saved?.stages, saved?.history?.find((entry) => entry.rollout === rollout)?.stages),
      ...restoreHistory(saved?.history, rollout),
    },
    updates: new Map(saved?.reservations?.map((reservation) => [reservation.node, restoreUpdate(reservation)])),
    forgiven: new Set(saved?.forgiven),
  };
};
