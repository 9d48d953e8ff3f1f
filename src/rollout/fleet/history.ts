import {
  type DaemonRolloutHistory,
  type DaemonRolloutPastStage,
  type DaemonRolloutRevision,
  FIELD_MANAGER,
  daemonRolloutLimits as limits,
} from '../../words/index.ts';
import { toTimestamp } from '../facts/metadata.ts';
import type { FieldOwner, TemplateOrigin } from '../facts/template-origin.ts';
import type { StageState } from '../plan/stage-state.ts';
import { newHistory, type RolloutState, type TargetRevision } from './state.ts';

const toRevision = ({ name, hash, number }: TargetRevision, images: readonly string[]): DaemonRolloutRevision => ({
  revision: name,
  hash,
  number,
  images: [...images],
});

const currentResult = ({ halted, finishedAt }: RolloutState): DaemonRolloutHistory['result'] => {
  if (halted) return 'Halted';
  return finishedAt === undefined ? 'InProgress' : 'Complete';
};

const toStage = ({ name, openedAt, promoted }: StageState): DaemonRolloutPastStage => ({
  name,
  openedAt: toTimestamp(openedAt),
  ...(promoted && { promotedAt: toTimestamp(promoted.at), promotion: promoted.how }),
  ...(promoted?.decisions && { decisions: [...promoted.decisions] }),
});

/** The current rollout as its entry; empty before the first target is known. */
const currentEntry = (state: RolloutState): DaemonRolloutHistory[] => {
  const { target, current, startedAt, finishedAt, allNodesUpdatedAt } = state;
  if (!target) return [];
  const { from, images, changedBy, haltedAt, failures } = current;
  return [
    {
      rollout: state.rollout,
      result: currentResult(state),
      ...(from && { from }),
      to: toRevision(target, images),
      ...(changedBy && { changedBy }),
      ...(startedAt !== undefined && { startedAt: toTimestamp(startedAt) }),
      ...(finishedAt !== undefined && { finishedAt: toTimestamp(finishedAt) }),
      ...(allNodesUpdatedAt !== undefined && { allNodesUpdatedAt: toTimestamp(allNodesUpdatedAt) }),
      ...(haltedAt !== undefined && { haltedAt: toTimestamp(haltedAt) }),
      nodes: state.updatesStarted,
      failures,
      ...(state.stages.length > 0 && { stages: state.stages.map(toStage).slice(-limits.stages) }),
    },
  ];
};

/** The history as it is written, newest first. */
export const saveHistory = (state: RolloutState): DaemonRolloutHistory[] =>
  [...currentEntry(state), ...state.past].slice(0, limits.history);

/**
 * Reads what `saveHistory` wrote. The first entry is the current rollout's, unless a manager wrote the status that kept no
 * history yet.
 */
export const restoreHistory = (
  history: readonly DaemonRolloutHistory[] = [],
  rollout: number,
): Pick<RolloutState, 'current' | 'past'> => {
  const [first, ...past] = history;
  if (first?.rollout !== rollout) return { current: newHistory(), past: history };
  const { from, to, changedBy, haltedAt, failures } = first;
  return {
    current: {
      from,
      images: to.images,
      changedBy,
      haltedAt: haltedAt === undefined ? undefined : Date.parse(haltedAt),
      failures,
    },
    past,
  };
};

/** It was a target before, or every online node ran it. */
const isEarlier = ({ current, past, lastComplete }: RolloutState, hash: string): boolean =>
  lastComplete?.hash === hash ||
  current.from?.hash === hash ||
  past.some(({ from, to }) => to.hash === hash || from?.hash === hash);

const endResult = (
  state: RolloutState,
  next: TargetRevision,
  changedBy: FieldOwner | undefined,
): DaemonRolloutHistory['result'] => {
  const result = currentResult(state);
  if (result === 'Complete') return result;
  if (result === 'Halted' && changedBy?.manager === FIELD_MANAGER) return 'RolledBack';
  if (isEarlier(state, next.hash)) return 'Undone';
  return result === 'Halted' ? result : 'Superseded';
};

/**
 * Who set the next template. A client that only removes fields may own none: then the last owner is the one that is
 * recorded for an earlier template already, and nobody is named.
 */
const changerOf = (
  { current, past }: RolloutState,
  { changedBy }: Pick<TemplateOrigin, 'changedBy'>,
): FieldOwner | undefined => {
  const recorded = [current, ...past].find((each) => each.changedBy)?.changedBy;
  const isRecorded = recorded?.manager === changedBy?.manager && recorded?.time === changedBy?.time;
  return isRecorded ? undefined : changedBy;
};

/** The history once `next` is the target: the rollout so far has ended. */
export const startNext = (
  state: RolloutState,
  next: TargetRevision,
  { images, changedBy }: TemplateOrigin,
  now: number,
): Pick<RolloutState, 'current' | 'past'> => {
  const changer = changerOf(state, { changedBy });
  const ended = currentEntry(state).map((entry) => ({
    ...entry,
    result: endResult(state, next, changer),
    endedAt: toTimestamp(now),
  }));
  return {
    current: {
      ...newHistory(),
      from: state.target && toRevision(state.target, state.current.images),
      images,
      changedBy: changer,
    },
    // One place is for the current rollout.
    past: [...ended, ...state.past].slice(0, limits.history - 1),
  };
};
