import type { UpdateKind } from '../../words/index.ts';
import type { PodFacts } from '../facts/pod.ts';
import { isOutOfService } from './in-place.ts';
import type { NodeRecord, NodeUpdate, PastUpdate } from './record.ts';

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
  stage: 'done',
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
  stage: 'reserved',
});

/**
 * Could the update, or an earlier one that reserved the same slot, have been sent? Then only a fence can release its slot.
 * Creating a new pod leaves no trace on the old one, so a surge always has to be looked up.
 */
export const mayHaveStarted = ({ kind, stage }: NodeUpdate): boolean => stage !== 'reserved' || kind === 'surge';

/** Merges an update from a DaemonRollout with `known`, what this process knows of the node's update. */
export const inheritUpdate = (update: NodeUpdate, known: NodeUpdate | undefined, now: number): NodeUpdate => {
  const at = Math.min(update.at, now);
  const same =
    known?.podUid === update.podUid &&
    known.kind === update.kind &&
    known.rollout === update.rollout &&
    (known.stage === 'done' || known.podResourceVersion === update.podResourceVersion);
  if (!same) return { ...update, at, saidAt: update.at, stage: update.stage === 'done' ? 'done' : 'inherited' };
  // Another process may have taken over a reservation of ours in the meantime, and carried it out.
  const stage = known.stage === 'reserved' ? 'inherited' : known.stage;
  const { podResourceVersion } = update.stage === 'done' ? update : known;
  // The DaemonRollout omits the pod's name once the update is carried out, but looking up its outcome needs the name.
  const saidAt = known.saidAt !== undefined && { saidAt: update.at };
  const unproven = known.unproven && update.stage !== 'done' && { unproven: known.unproven };
  return { ...update, at, ...saidAt, stage, ...unproven, podName: known.podName, podResourceVersion };
};

/** Gives the node's slot to this update, which repairs what an earlier one left behind. */
export const reserveUpdate = (record: NodeRecord, update: NodeUpdate): void => {
  const { update: before } = record;
  const repairs = before?.stage === 'done' ? toPastUpdate(before) : before?.repairs;
  record.update = repairs ? { ...update, repairs } : update;
};

/** Releases the update. What remains is the update that it was to repair, or whatever it has already started. */
export const releaseUpdate = (record: NodeRecord): void => {
  const { update } = record;
  // A pod that the update's first write took out of service counts as broken by an older update.
  const started = update && isOutOfService(record) ? { rollout: update.rollout - 1, at: update.at } : undefined;
  const remaining = update?.repairs ?? started;
  record.update = remaining && pastUpdate(remaining);
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
  // Try once more, as after a new template: in the node's own slot if it is down.
  const { update, status } = record;
  if (update && status.cause === 'came-back-old')
    record.update = pastUpdate({ rollout: update.rollout - 1, at: update.at });
};
