import { type DaemonRolloutStatus, daemonRolloutLimits as limits } from '../../words/index.ts';
import { toTimestamp } from '../facts/metadata.ts';
import type { NodeRecord } from '../node/record.ts';
import { restoreUpdate, saveUpdate } from '../node/reservation.ts';
import type { NodeUpdate } from '../node/update.ts';
import { restoreStages } from '../plan/stage-state.ts';
import { restoreHistory, saveHistory } from './history.ts';
import type { Ledger } from './ledger-types.ts';
import { newState, type RolloutState } from './state.ts';

/** The part of a DaemonRollout's status that the next leader continues from; the rest is for people. */
export type SavedRollout = Pick<
  DaemonRolloutStatus,
  | 'rollout'
  | 'target'
  | 'startedAt'
  | 'finishedAt'
  | 'firstWaveUpdatedAt'
  | 'halfUpdatedAt'
  | 'allNodesUpdatedAt'
  | 'updatesStarted'
  | 'halted'
  | 'resumed'
  | 'driftForgiven'
  | 'lastComplete'
  | 'reservations'
  | 'forgiven'
  | 'rollback'
  | 'stages'
  | 'history'
>;

/** If there are more updates than the object may hold, keep those of online nodes, which the next leader needs most. */
const mostNeeded = (records: NodeRecord[]): NodeRecord[] =>
  records.length <= limits.reservations
    ? records
    : records.toSorted((a, b) => Number(b.status.online) - Number(a.status.online)).slice(0, limits.reservations);

const byNode = (a: NodeRecord, b: NodeRecord): number => (a.name < b.name ? -1 : 1);

/** When the rollout reached what, in the order in which it does. */
const times = ['startedAt', 'firstWaveUpdatedAt', 'halfUpdatedAt', 'finishedAt', 'allNodesUpdatedAt'] as const;
type Time = (typeof times)[number];

const saveTimes = (state: RolloutState): Pick<SavedRollout, Time> =>
  Object.fromEntries(
    times.flatMap((time) => {
      const at = state[time];
      return at === undefined ? [] : [[time, toTimestamp(at)]];
    }),
  );

const restoreTimes = (saved: Partial<SavedRollout> | undefined): Partial<Pick<RolloutState, Time>> =>
  Object.fromEntries(
    times.flatMap((time) => {
      const at = saved?.[time];
      return at === undefined ? [] : [[time, Date.parse(at)]];
    }),
  );

export const save = (ledger: Ledger): SavedRollout & Required<Pick<SavedRollout, 'rollout' | 'history'>> => {
  const { state } = ledger;
  const { target, halted, resumed, lastComplete } = state;
  const reservations = mostNeeded([...ledger.withUpdate()])
    .toSorted(byNode)
    .flatMap((record) => (record.update ? [saveUpdate(record.name, record.update)] : []));
  return {
    rollout: state.rollout,
    updatesStarted: state.updatesStarted,
    reservations,
    forgiven: [...ledger.forgiven()]
      .toSorted(byNode)
      .slice(0, limits.forgiven)
      .map((record) => record.name),
    ...(target && { target: { revision: target.name, hash: target.hash, number: target.number } }),
    ...saveTimes(state),
    ...(halted && { halted: { ...halted, at: toTimestamp(halted.at) } }),
    ...(resumed !== undefined && { resumed }),
    ...(state.driftForgiven && { driftForgiven: true }),
    ...(lastComplete && { lastComplete: { revision: lastComplete.name, hash: lastComplete.hash } }),
    ...(state.rollback && { rollback: true }),
    history: saveHistory(state),
  };
};

export interface RestoredRollout {
  state: RolloutState;
  updates: Map<string, NodeUpdate>;
  forgiven: Set<string>;
}

/** Reads what `save` wrote; a rollout that has not been written yet starts from scratch. */
export const restore = (saved: Partial<SavedRollout> | undefined): RestoredRollout => {
  const { rollout = 0, target, halted, resumed, lastComplete } = saved ?? {};
  return {
    state: {
      ...newState(),
      rollout,
      updatesStarted: saved?.updatesStarted ?? 0,
      target: target && { name: target.revision, hash: target.hash, number: target.number },
      ...restoreTimes(saved),
      halted: halted && {
        at: Date.parse(halted.at),
        reason: halted.reason,
        nodes: halted.nodes ?? [],
        ...(halted.check !== undefined && { check: halted.check }),
      },
      resumed,
      driftForgiven: saved?.driftForgiven ?? false,
      lastComplete: lastComplete && { name: lastComplete.revision, hash: lastComplete.hash },
      rollback: saved?.rollback ?? false,
      stages: restoreStages(saved?.stages, saved?.history?.find((entry) => entry.rollout === rollout)?.stages),
      ...restoreHistory(saved?.history, rollout),
    },
    updates: new Map(saved?.reservations?.map((reservation) => [reservation.node, restoreUpdate(reservation)])),
    forgiven: new Set(saved?.forgiven),
  };
};
