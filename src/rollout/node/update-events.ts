import { isOutOfService } from './in-place.ts';
import type { NodeRecord } from './record.ts';
import {
  isCarriedOut,
  type NodeUpdate,
  type PastUpdate,
  pastUpdate,
  recordedState,
  toPastUpdate,
  type UpdateState,
} from './update.ts';

/** What becomes of an update other than a state: `none` or, while there is more to do on its node, an older one. */
export type Next =
  | UpdateState
  | 'none'
  /** What it was to repair, or what it has already started on the pod. */
  | 'released'
  /** An update of the rollout before: the node gets another one, in its own slot until it works, as after a new template. */
  | 'older';

const open = <const N extends Next>(next: N) => ({
  reserved: next,
  inherited: next,
  sending: next,
  resending: next,
  unsure: next,
});
const inFlight = <const N extends Next>(next: N) => ({ sending: next, resending: next });
const carriedOut = <const N extends Next>(next: N) => ({ unproven: next, done: next, past: next });

type Row = Readonly<Partial<Record<UpdateState, Next | ((update: NodeUpdate) => Next)>>>;

/** The life of an update: where each event leads from the states that it changes. */
const rows = {
  // What this process does, and what the API server answers.
  sent: { reserved: 'sending', inherited: 'resending', unsure: 'resending' },
  /** A response is proof, whatever was believed before it arrived. */
  confirmed: { ...open('done'), unproven: 'done' },
  /** No request left this process: the pod is held back, or cannot be changed in this way. */
  unsent: { sending: 'reserved', resending: 'unsure' },
  /** There is no response. */
  lost: inFlight('unsure'),
  /** The pod has another version than the request: what was sent for the older one can no longer succeed. */
  outdated: inFlight('reserved'),
  /** An earlier request may still succeed, and a surge leaves no trace on the pod: then only a fence frees the slot. */
  refused: { sending: ({ kind }) => (kind === 'surge' ? 'unsure' : 'released'), resending: 'unsure' },
  /** The pod is gone or is being deleted. Who deleted it, no response says. */
  gone: open('unsure'),
  /** It was not sent, or a fence makes sure that it can no longer be carried out. */
  released: { reserved: 'released', inherited: 'released', unsure: 'released' },

  // What another process has written to the DaemonRollout.
  /** It may have carried out a reservation of ours in the meantime. */
  'taken-over': { reserved: 'inherited', sending: 'resending' },
  'recorded-as-done': { unproven: 'done' },

  // What the watches show.
  /** The pod that was updated in place, or the new pod of a surge. */
  shown: open('done'),
  /** The old pod is gone or terminates. */
  vanished: open('unproven'),
  /** A pod that this update explains is in the place of the old one. */
  replaced: { unproven: 'done' },
  /** A pod of an older revision is: somebody else deleted the old one, perhaps before the target was set. */
  'came-back-old': { unproven: 'older' },
  /** Its effect has not shown in time, or has gone: decide again, once it has been looked up. */
  missing: carriedOut('inherited'),
  /** The new pod of an older rollout is known to be gone: it is not created again, and need not be looked up. */
  'new-pod-removed': carriedOut('past'),
  completed: carriedOut('none'),
  /** An update that may still be in flight is kept until it is released. */
  'no-longer-eligible': carriedOut('none'),

  /** The user resumed the rollout after the node came back old. */
  forgiven: carriedOut('older'),
} as const satisfies Readonly<Record<string, Row>>;

export type UpdateEvent = keyof typeof rows;

/** Where the event leads; undefined: nowhere, the update stays as it is. */
export const nextState = (update: NodeUpdate, event: UpdateEvent): Next | undefined => {
  const row: Row = rows[event];
  const next = row[update.state];
  return typeof next === 'function' ? next(update) : next;
};

/** What an event tells besides. */
export type Learned = Partial<Pick<NodeUpdate, 'podName' | 'podResourceVersion' | 'begunAt' | 'at'>>;

const afterEvent = (
  update: NodeUpdate,
  next: Next,
  learned: Learned,
  outOfService: boolean,
): NodeUpdate | undefined => {
  const { rollout, at, repairs } = update;
  if (next === 'none') return undefined;
  if (next === 'past') return pastUpdate({ rollout, at });
  if (next === 'released' && repairs) return pastUpdate(repairs);
  // A pod that the update's first write took out of service counts as broken by an older update.
  if (next === 'released' && !outOfService) return undefined;
  if (next === 'released' || next === 'older') return pastUpdate({ rollout: rollout - 1, at });
  const { saidAt: _, ...own } = update;
  return { ...(learned.at === undefined ? update : own), ...learned, state: next };
};

/** Something has happened to the node's update. Nothing else changes it, but for its start. */
export const noteEvent = (record: NodeRecord, event: UpdateEvent, learned: Learned = {}): void => {
  const { update } = record;
  const next = update && nextState(update, event);
  if (next) record.update = afterEvent(update, next, learned, isOutOfService(record));
};

/** Gives the node's slot to this update, which repairs what an earlier one left behind. */
export const reserveUpdate = (record: NodeRecord, update: NodeUpdate): void => {
  const { update: before } = record;
  const repairs = before && isCarriedOut(before) ? toPastUpdate(before) : before?.repairs;
  record.update = repairs ? { ...update, repairs } : update;
};

/** A completed update counts again: its node went offline soon after it. */
export const suspectUpdate = (record: NodeRecord, completed: PastUpdate): void => {
  record.update = pastUpdate(completed);
};

/** Merges an update from a DaemonRollout with `known`, what this process knows of the node's update. */
export const inheritUpdate = (update: NodeUpdate, known: NodeUpdate | undefined, now: number): NodeUpdate => {
  const at = Math.min(update.at, now);
  const same =
    known?.podUid === update.podUid &&
    known.kind === update.kind &&
    known.rollout === update.rollout &&
    (isCarriedOut(known) || known.podResourceVersion === update.podResourceVersion);
  if (!same) return { ...update, at, saidAt: update.at, state: recordedState(update) };
  const isDone = recordedState(update) !== 'inherited';
  const { podResourceVersion } = isDone ? update : known;
  const row: Readonly<Partial<Record<UpdateState, UpdateState>>> = isDone
    ? rows['recorded-as-done']
    : rows['taken-over'];
  // The DaemonRollout omits the pod's name once the update is carried out, but looking up its outcome needs the name.
  const { podName } = known;
  const saidAt = known.saidAt !== undefined && { saidAt: update.at };
  const state = row[known.state] ?? known.state;
  return { ...update, at, ...saidAt, state, podName, podResourceVersion };
};

const FIRST_BACK_OFF_MS = 1_000;
const LONGEST_BACK_OFF_MS = 300_000;

/** The API server refused the update: the node waits longer each time. */
export const backOff = (record: NodeRecord, message: string, now: number): void => {
  const tries = (record.refused?.tries ?? 0) + 1;
  const waitMs = Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (tries - 1));
  record.refused = { tries, message, until: now + waitMs };
};

/** The user resumed the rollout after this node failed. */
export const forgive = (record: NodeRecord): void => {
  record.forgiven = true;
  if (record.status.cause === 'came-back-old') noteEvent(record, 'forgiven');
};
