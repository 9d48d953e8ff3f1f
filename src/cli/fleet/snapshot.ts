import type { RolloutCounts } from '../../view/index.ts';
import type { Phase } from '../../words/index.ts';

/** One node, as drawn. */
export interface NodeState {
  name: string;
  /** Undefined while the DaemonSet doesn't run on the node. */
  phase: Phase | undefined;
  /** Image of its pod; empty when there is none. */
  image: string;
}

export interface EventLine {
  reason: string;
  note: string;
  warning: boolean;
}

/** The state of one rollout, as drawn. */
export interface Snapshot extends RolloutCounts {
  /** In the order in which they are drawn. */
  nodes: readonly NodeState[];
  /** Oldest first. */
  events: readonly EventLine[];
}

export const emptySnapshot: Snapshot = {
  nodes: [],
  counts: {},
  budget: { inUse: 0, limit: 0 },
  halted: false,
  events: [],
};
