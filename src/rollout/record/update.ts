import { isOutOfService, type NodeRecord, type NodeUpdate, pastUpdate, toPastUpdate } from './record.ts';

const FIRST_BACK_OFF_MS = 1_000;
const LONGEST_BACK_OFF_MS = 300_000;

/** An act that a DaemonRollout tells of, where `known` is what this process knew of the node. */
export const inheritUpdate = (act: NodeUpdate, known: NodeUpdate | undefined, now: number): NodeUpdate => {
  const at = Math.min(act.at, now);
  const same =
    known?.podUid === act.podUid &&
    known.kind === act.kind &&
    known.rollout === act.rollout &&
    (known.stage === 'done' || known.podResourceVersion === act.podResourceVersion);
  // A reservation that was ours alone may meanwhile have been taken over, and carried out, by another process.
  if (same) {
    const stage = known.stage === 'reserved' ? 'inherited' : known.stage;
    const { podResourceVersion } = act.stage === 'done' ? act : known;
    // One that is on file as carried out is told without the name, which whoever looks what became of it needs.
    return { ...act, at, stage, podName: known.podName, podResourceVersion };
  }
  return { ...act, at, stage: act.stage === 'done' ? 'done' : 'inherited' };
};

/** The node's slot is for this act now, which repairs what an earlier one left. */
export const reserveUpdate = (record: NodeRecord, act: NodeUpdate): void => {
  const { update: before } = record;
  const repairs = before?.stage === 'done' ? toPastUpdate(before) : before?.repairs;
  record.update = repairs ? { ...act, repairs } : act;
};

/** The act is taken back: the one that it was to repair stays, and so does what it began. */
export const releaseUpdate = (record: NodeRecord): void => {
  const { update } = record;
  // A pod that the first write of the act took out of service is as one that an older act broke.
  const begun = update && isOutOfService(record) ? { rollout: update.rollout - 1, at: update.at } : undefined;
  const stays = update?.repairs ?? begun;
  record.update = stays && pastUpdate(stays);
};

/** The API server refused the act: the node waits, ever longer. */
export const backOff = (record: NodeRecord, message: string, now: number): void => {
  const tries = (record.refused?.tries ?? 0) + 1;
  const waitMs = Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (tries - 1));
  record.refused = { tries, message, until: now + waitMs };
};

/** The user resumed after the node's failure. */
export const forgive = (record: NodeRecord): void => {
  record.forgiven = true;
  // To be tried once more, as after a new template: in its own slot should it be down.
  const { update, status } = record;
  if (update && status.cause === 'came-back-old')
    record.update = pastUpdate({ rollout: update.rollout - 1, at: update.at });
};
