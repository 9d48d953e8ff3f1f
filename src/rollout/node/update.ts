import type { UpdateKind } from '../../words/index.ts';
import type { PodFacts } from '../facts/pod.ts';

/** How far an update has got. `update-events.ts` has the events that lead from one to the next. */
export type UpdateState =
  /** Its slot is reserved, and no request was sent. */
  | 'reserved'
  /** Another process reserved it and may have sent the request, or may still send it. */
  | 'inherited'
  /** The first request is in flight. */
  | 'sending'
  /** A request is in flight, and an earlier one may have been carried out. */
  | 'resending'
  /** A request may have been carried out: its response was lost. */
  | 'unsure'
  /** The pod is gone or terminates, but no response confirmed the update: somebody else may have deleted the pod. */
  | 'unproven'
  /** The API server confirmed the request, or the watch shows its effect. */
  | 'done'
  /** Carried out, but what it did to which pod is no longer known, or no longer counts. */
  | 'past';

interface StateTraits {
  /** As far as this process knows. */
  readonly carriedOut: boolean;
  /** The state in which the next leader finds it. */
  readonly recorded: 'inherited' | 'done' | 'past';
}

const traits: Readonly<Record<UpdateState, StateTraits>> = {
  reserved: { carriedOut: false, recorded: 'inherited' },
  inherited: { carriedOut: false, recorded: 'inherited' },
  sending: { carriedOut: false, recorded: 'inherited' },
  resending: { carriedOut: false, recorded: 'inherited' },
  unsure: { carriedOut: false, recorded: 'inherited' },
  // The next leader finds out itself that the pod is gone, and knows as little about who deleted it.
  unproven: { carriedOut: true, recorded: 'inherited' },
  done: { carriedOut: true, recorded: 'done' },
  past: { carriedOut: true, recorded: 'past' },
};

/** An update of a node that has not completed. It holds one slot of the budget while the node is online. */
export interface NodeUpdate {
  /** Absent: the pod is deleted, and the controller of the pods recreates it. */
  kind?: UpdateKind;
  /** The pod to replace; empty in a past update. */
  podUid: string;
  podName: string;
  /** The version that the decision saw; after an in-place update, the first version known to include the change. */
  podResourceVersion: string;
  /** The revision of the pod before an in-place update. */
  podRevision?: string;
  /** Number of the rollout that it belongs to. */
  rollout: number;
  /** When its slot was reserved, epoch ms; never later than now. */
  at: number;
  /** The same by the clock of the process that reserved it, if that was another one. */
  saidAt?: number;
  state: UpdateState;
  /** When this process sent the write that took the pod out of service for it, epoch ms; absent before. */
  begunAt?: number;
  /** The older incomplete update that this one repairs. It is restored if this one is released. */
  repairs?: PastUpdate;
}

export interface PastUpdate {
  kind?: UpdateKind;
  /** With a kind: the updated pod, which still runs on the node. */
  podUid?: string;
  rollout: number;
  at: number;
  saidAt?: number;
}

/** What is remembered of an update that another one repairs. */
export const toPastUpdate = ({ kind, podUid = '', rollout, at, saidAt }: PastUpdate): PastUpdate => ({
  ...(kind && { kind, podUid }),
  rollout,
  at,
  ...(saidAt !== undefined && { saidAt }),
});

/** An update that was carried out and whose pod is no longer known. */
export const pastUpdate = (update: PastUpdate): NodeUpdate => ({
  podUid: '',
  ...toPastUpdate(update),
  podName: '',
  podResourceVersion: '',
  state: 'past',
});

export const newUpdate = (
  { pod, kind }: { pod: PodFacts; kind?: UpdateKind },
  rollout: number,
  at: number,
): NodeUpdate => ({
  ...(kind && { kind }),
  podUid: pod.uid,
  podName: pod.name,
  podResourceVersion: pod.resourceVersion,
  ...(kind === 'in-place' && { podRevision: pod.revision }),
  rollout,
  at,
  state: 'reserved',
});

export const isCarriedOut = ({ state }: NodeUpdate): boolean => traits[state].carriedOut;

export const recordedState = ({ state }: NodeUpdate): StateTraits['recorded'] => traits[state].recorded;

export const isSending = ({ state }: NodeUpdate): boolean => state === 'sending' || state === 'resending';

/**
 * Could the update, or an earlier one that reserved the same slot, have been sent? Then only a fence can release its slot.
 * Creating a new pod leaves no trace on the old one, so a surge always has to be looked up.
 */
export const mayHaveStarted = ({ kind, state }: NodeUpdate): boolean => state !== 'reserved' || kind === 'surge';
