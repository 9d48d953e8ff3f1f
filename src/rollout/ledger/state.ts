/**
 * What a rollout must remember beyond what the cluster's pods and nodes show: kept in the status of the DaemonRollout,
 * so that a successor knows it.
 */
export interface RolloutState {
  /** Counts the changes of target; 0 before the first target is known. */
  rollout: number;
  target: TargetRevision | undefined;
  /** Undefined when the target is the first that we know: then nothing was rolled out by us. */
  startedAt: number | undefined;
  finishedAt: number | undefined;
  /** Nodes acted on in this rollout. */
  acted: number;
  halted: Halt | undefined;
  /** The value of the resume annotation that was honoured last. */
  resumed: string | undefined;
  /** The last revision that every online node was seen to run. */
  lastComplete: { name: string; hash: string } | undefined;
}

export interface Halt {
  at: number;
  reason: 'Failures' | 'RolledBack';
  /** The first ten. */
  nodes: string[];
}

/** A ControllerRevision, as a target. */
export interface TargetRevision {
  name: string;
  /** Label `controller-revision-hash`. */
  hash: string;
  /** Its `revision`: raised when an older template is set again. */
  number: number;
  /** Hashes of the revisions whose pods can become this one in place. Not kept: it is told anew with the target. */
  inPlaceFrom?: ReadonlySet<string>;
}

export const newState = (): RolloutState => ({
  rollout: 0,
  target: undefined,
  startedAt: undefined,
  finishedAt: undefined,
  acted: 0,
  halted: undefined,
  resumed: undefined,
  lastComplete: undefined,
});

const none: ReadonlySet<string> = new Set();

const isSame = (a: TargetRevision, b: TargetRevision): boolean => {
  const [before, after] = [a.inPlaceFrom ?? none, b.inPlaceFrom ?? none];
  return a.number === b.number && before.symmetricDifference(after).size === 0;
};

/** The state once `target` is what the DaemonSet asks for, at `now`; the same object when it already is. */
export const retarget = (state: RolloutState, target: TargetRevision, now: number): RolloutState => {
  if (state.target?.hash === target.hash) return isSame(state.target, target) ? state : { ...state, target };
  return {
    ...state,
    target,
    rollout: state.rollout + 1,
    startedAt: state.target === undefined ? undefined : now,
    finishedAt: undefined,
    acted: 0,
    halted: undefined,
  };
};
