import type { DaemonRolloutReservation as Reservation } from '../../words/index.ts';
import { type NodeUpdate, type PastUpdate, recordedState, toPastUpdate } from './update.ts';

const time = (ms: number): string => new Date(ms).toISOString();

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

/** An update as the DaemonRollout keeps it: in the state in which the next leader finds it. */
export const saveUpdate = (node: string, update: NodeUpdate): Reservation => {
  const carriedOut = recordedState(update) !== 'inherited';
  return {
    node,
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

const restorePast = ({ kind, podUID, rollout, at }: NonNullable<Reservation['repairs']>): PastUpdate =>
  toPastUpdate({ ...(kind && { kind, podUid: podUID ?? '' }), rollout, at: Date.parse(at) });

/** Reads what `saveUpdate` wrote. */
export const restoreUpdate = (saved: Reservation): NodeUpdate => {
  const { podUID, podName = '', podResourceVersion = '', podRevision, repairs, carriedOut } = saved;
  const doneTo = podUID === '' ? 'past' : 'done';
  return {
    ...restorePast(saved),
    podUid: podUID,
    podName: carriedOut ? '' : podName,
    podResourceVersion,
    ...(podRevision !== undefined && { podRevision }),
    state: carriedOut ? doneTo : 'inherited',
    ...(repairs && { repairs: restorePast(repairs) }),
  };
};
