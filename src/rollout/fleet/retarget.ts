import type { TemplateOrigin } from '../facts/template-origin.ts';
import { startNext } from './history.ts';
import { newState, type RolloutState, type TargetRevision } from './state.ts';

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
    ...newState(),
    resumed: state.resumed,
    lastComplete: state.lastComplete,
    target,
    rollout: state.rollout + 1,
    startedAt: state.target === undefined ? undefined : now,
    rollback: state.lastComplete?.hash === target.hash,
    ...startNext(state, target, origin, now),
  };
};
