import type { DaemonRolloutHistory, DaemonRolloutRevision } from '../../words/index.ts';
import type { FieldOwner } from '../facts/template-origin.ts';
import type { StageState } from '../plan/stage-state.ts';

/** What only the history says of the current rollout; the rest of its entry follows from the state. */
export interface CurrentHistory {
  /** The target before; undefined if it is not known. */
  from: DaemonRolloutRevision | undefined;
  /** Of the target. */
  images: readonly string[];
  changedBy: FieldOwner | undefined;
  /** When the rollout was last halted, even if it was resumed since. */
  haltedAt: number | undefined;
  /** The largest number of nodes on which the target had failed at the same time. */
  failures: number;
}

/** What a rollout must remember beyond what pods and nodes show. The status of the DaemonRollout keeps it for the next leader. */
export interface RolloutState {
  /** Counts the changes of the target; 0 before the first target is known. */
  rollout: number;
  target: TargetRevision | undefined;
  /** Undefined when the target is the first that we know: we have not rolled out anything yet. */
  startedAt: number | undefined;
  finishedAt: number | undefined;
  /** When as many nodes as the first wave had the target; undefined also if it is no smaller than the budget. */
  firstWaveUpdatedAt: number | undefined;
  /** When half of the online nodes first had the target. */
  halfUpdatedAt: number | undefined;
  /** When every node first had the target, offline nodes included. */
  allNodesUpdatedAt: number | undefined;
  /** Number of nodes updated in this rollout. */
  updatesStarted: number;
  halted: Halt | undefined;
  /** The last value of the resume annotation that took effect. */
  resumed: string | undefined;
  /** The user resumed although images differed between nodes: that no longer halts this rollout. */
  driftForgiven: boolean;
  /** The last revision that every online node ran. */
  lastComplete: { name: string; hash: string } | undefined;
  /** The target was last complete when it was set, while another revision was being rolled out. */
  rollback: boolean;
  /** The plan's stages that were opened in this rollout. */
  stages: readonly StageState[];
  current: CurrentHistory;
  /** The rollouts before, newest first. */
  past: readonly DaemonRolloutHistory[];
}

export interface Halt {
  at: number;
  /**
   * `CheckFailed`: a check of a stage; then `nodes` is empty, and `check` says which. `ImageDrift`: an image is not the same on all
   * nodes; `nodes` is empty.
   */
  reason: 'Failures' | 'RolledBack' | 'CheckFailed' | 'ImageDrift';
  check?: string;
  /** The first ten nodes that failed. */
  nodes: string[];
}

/** A ControllerRevision, as a target. */
export interface TargetRevision {
  name: string;
  /** Label `controller-revision-hash`. */
  hash: string;
  /** Its `revision`: raised when an older template is set again. */
  number: number;
  /** Hashes of the revisions whose pods can be updated to this one in place. Not stored, but computed with the target. */
  inPlaceFrom?: ReadonlySet<string>;
}

export const newHistory = (): CurrentHistory => ({
  from: undefined,
  images: [],
  changedBy: undefined,
  haltedAt: undefined,
  failures: 0,
});

export const newState = (): RolloutState => ({
  rollout: 0,
  target: undefined,
  startedAt: undefined,
  finishedAt: undefined,
  firstWaveUpdatedAt: undefined,
  halfUpdatedAt: undefined,
  allNodesUpdatedAt: undefined,
  updatesStarted: 0,
  halted: undefined,
  resumed: undefined,
  driftForgiven: false,
  lastComplete: undefined,
  rollback: false,
  stages: [],
  current: newHistory(),
  past: [],
});

/** Hash of the revision that nodes keep which are kept from the target; undefined: there is none, or it is the target. */
export const heldRevision = ({ lastComplete, target }: RolloutState): string | undefined =>
  lastComplete?.hash === target?.hash ? undefined : lastComplete?.hash;

/**
 * Does nothing hold back stages? The remedy is not staged; nor is the first revision of a new DaemonSet, whose pods its
 * controller creates.
 */
export const isUnstaged = ({ rollback, startedAt, target }: RolloutState): boolean =>
  rollback || (startedAt === undefined && (target?.number ?? 1) <= 1);
