import {
  type DaemonRolloutReservation,
  type DaemonRolloutStatus,
  daemonRolloutLimits as limits,
} from '../api/types.ts';
import { toTimestamp } from '../facts/timestamps.ts';
import { type NodeRecord, type NodeUpdate, type PastUpdate, pastUpdate, toPastUpdate } from '../record/record.ts';
import type { Ledger } from './ledger.ts';
import { newState, type RolloutState } from './state.ts';

/** The part of a DaemonRollout's status that a successor goes on from; the rest of the status is for people. */
export type SavedRollout = Pick<
  DaemonRolloutStatus,
  | 'rollout'
  | 'target'
  | 'startedAt'
  | 'finishedAt'
  | 'acted'
  | 'halted'
  | 'resumed'
  | 'lastComplete'
  | 'reservations'
  | 'forgiven'
>;

type Reservation = DaemonRolloutReservation;

const time = (ms: number): string => new Date(ms).toISOString();

/** The acts that a successor needs most first, should there be more than the object holds: those of online nodes. */
const mostNeeded = (acting: NodeRecord[]): NodeRecord[] =>
  acting.length <= limits.reservations
    ? acting
    : acting.toSorted((a, b) => Number(b.status.online) - Number(a.status.online)).slice(0, limits.reservations);

const byNode = (a: NodeRecord, b: NodeRecord): number => (a.name < b.name ? -1 : 1);

const fromPast = ({ kind, podUid = '', rollout, at }: PastUpdate): NonNullable<Reservation['repairs']> => ({
  ...(kind && { kind, podUID: podUid }),
  rollout,
  at: time(at),
});

const toReservation = (record: NodeRecord, act: NodeUpdate): Reservation => ({
  node: record.name,
  ...(act.kind && { kind: act.kind }),
  podUID: act.podUid,
  ...(act.podRevision !== undefined && { podRevision: act.podRevision }),
  rollout: act.rollout,
  at: time(act.at),
  carriedOut: act.stage === 'done',
  ...(act.stage !== 'done' && { podName: act.podName }),
  ...((act.stage !== 'done' || act.kind === 'in-place') && { podResourceVersion: act.podResourceVersion }),
  ...(act.repairs ? { repairs: fromPast(act.repairs) } : {}),
});

export const save = (ledger: Ledger): SavedRollout & Required<Pick<SavedRollout, 'rollout'>> => {
  const { state } = ledger;
  const { target, startedAt, finishedAt, halted, resumed, lastComplete } = state;
  const reservations = mostNeeded([...ledger.withUpdate()])
    .toSorted(byNode)
    .flatMap((record) => (record.update ? [toReservation(record, record.update)] : []));
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
    ...(halted && { halted: { ...halted, at: toTimestamp(halted.at) } }),
    ...(resumed !== undefined && { resumed }),
    ...(lastComplete && { lastComplete: { revision: lastComplete.name, hash: lastComplete.hash } }),
  };
};

const toPast = ({ kind, podUID, rollout, at }: NonNullable<Reservation['repairs']>): PastUpdate =>
  toPastUpdate({ ...(kind && { kind, podUid: podUID ?? '' }), rollout, at: Date.parse(at) });

const toAct = (saved: Reservation): NodeUpdate => {
  const past = toPast(saved);
  const { repairs } = saved;
  return {
    ...(saved.carriedOut ? pastUpdate(past) : { ...past, podName: saved.podName ?? '', stage: 'inherited' as const }),
    podUid: saved.podUID,
    podResourceVersion: saved.podResourceVersion ?? '',
    ...(saved.podRevision !== undefined && { podRevision: saved.podRevision }),
    ...(repairs && { repairs: toPast(repairs) }),
  };
};

export interface RestoredRollout {
  state: RolloutState;
  updates: Map<string, NodeUpdate>;
  forgiven: Set<string>;
}

/** Reads what `save` wrote; of a rollout that nobody has written yet, everything is new. */
export const restore = (saved: Partial<SavedRollout> | undefined): RestoredRollout => {
  const { target, startedAt, finishedAt, halted, resumed, lastComplete } = saved ?? {};
  return {
    state: {
      ...newState(),
      rollout: saved?.rollout ?? 0,
      acted: saved?.acted ?? 0,
      target: target && { name: target.revision, hash: target.hash, number: target.number },
      startedAt: startedAt === undefined ? undefined : Date.parse(startedAt),
      finishedAt: finishedAt === undefined ? undefined : Date.parse(finishedAt),
      halted: halted && { at: Date.parse(halted.at), reason: halted.reason, nodes: halted.nodes ?? [] },
      resumed,
      lastComplete: lastComplete && { name: lastComplete.revision, hash: lastComplete.hash },
    },
    updates: new Map(saved?.reservations?.map((reservation) => [reservation.node, toAct(reservation)])),
    forgiven: new Set(saved?.forgiven),
  };
};
