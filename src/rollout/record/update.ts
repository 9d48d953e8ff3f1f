import { type Act, asPast, isShut, type NodeRecord, pastAct } from './record.ts';

const FIRST_BACK_OFF_MS = 1_000;
const LONGEST_BACK_OFF_MS = 300_000;

/** An act that a DaemonRollout tells of, where `known` is what this process knew of the node. */
export const takeOver = (act: Act, known: Act | undefined, now: number): Act => {
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
export const reserveFor = (record: NodeRecord, act: Act): void => {
  const { act: before } = record;
  const repairs = before?.stage === 'done' ? asPast(before) : before?.repairs;
  record.act = repairs ? { ...act, repairs } : act;
};

/** The act is taken back: the one that it was to repair stays, and so does what it began. */
export const takeBack = (record: NodeRecord): void => {
  const { act } = record;
  // A pod that the first write of the act took out of service is as one that an older act broke.
  const begun = act && isShut(record) ? { rollout: act.rollout - 1, at: act.at } : undefined;
  const stays = act?.repairs ?? begun;
  record.act = stays && pastAct(stays);
};

/** The API server refused the act: the node waits, ever longer. */
export const backOff = (record: NodeRecord, message: string, now: number): void => {
  const tries = (record.refused?.tries ?? 0) + 1;
  const waitMs = Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (tries - 1));
  record.refused = { tries, message, until: now + waitMs };
};

/** The user resumed after the node's failure. */
export const pardon = (record: NodeRecord): void => {
  record.forgiven = true;
  // To be tried once more, as after a new template: in its own slot should it be down.
  const { act, view } = record;
  if (act && view.cause === 'came-back-old') record.act = pastAct({ rollout: act.rollout - 1, at: act.at });
};
