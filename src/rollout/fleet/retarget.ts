import type { TemplateOrigin } from '../facts/template-origin.ts';
import { startNext } from './history.ts';
import type { RolloutState, TargetRevision } from './state.ts';

const none: ReadonlySet<string> = new Set();

const isSame = (a: TargetRevision, b: TargetRevision): boolean => {
  const [before, after] = [a.inPlaceFrom ?? none, b.inPlaceFrom ?? none];
  return a.number === b.number && before.symmetricDifference(after).size === 0;
};

/** The state with `target` as the DaemonSet's target from `now` on; the same object if it already is the target. */
export const retarget = (
  state: RolloutState,
  target: TargetRevision,
  now: number,
  origin: TemplateOrigin = { images: [], changedBy: undefined },
): RolloutState => {
  if (state.target?.hash === target.hash) return isSame(state.target, target) ? state : { ...state, target };
  return {
    ...state,
    target,
    rollout: state.rollout + 1,
    startedAt: state.target === undefined ? undefined : now,
    finishedAt: undefined,
    firstWaveUpdatedAt: undefined,
    halfUpdatedAt: undefined,
    allNodesUpdatedAt: undefined,
    updatesStarted: 0,
    halted: undefined,
    driftForgiven: false,
    rollback: state.lastComplete?.hash === target.hash,
    stages: [],
    ...startNext(state, target, origin, now),
  };
};
