import type { ClusterState, NodeState } from '../state/cluster-state.ts';

/** The nodes of a rollout, as they are. */
export interface StagedCluster {
  state: ClusterState;
  /** Nodes that are to have a pod. */
  nodes: () => readonly NodeState[];
  /** The node is online, and its only pod is of the target and available. */
  isWell: (node: NodeState) => boolean;
  /** Nodes with an update in flight. */
  inFlight: () => Iterable<string>;
}
