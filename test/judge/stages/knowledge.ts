import type { RolloutPlanSpec } from '../../../src/words/index.ts';
import type { StagedNode } from '../../invariants/index.ts';
import type { NodeState } from '../state/cluster-state.ts';
import type { PlanVersion, Status } from '../state/follow-plan.ts';

/** A node as somebody knows it. */
export interface KnownNode extends StagedNode {
  annotations: Readonly<Record<string, string>>;
}

/**
 * What the sender of a call could know when it sent it. The simulation knows it exactly (process-knowledge.ts); an audit log shows
 * what happened, and that a sender may not know what is new (audit/check-stages.ts). A rule finds a violation only if there is one by
 * everything that the sender may have gone by.
 */
export interface Knowledge {
  /** At least one. */
  plans: readonly PlanVersion[];
  /** Neither the plan has changed lately, nor where the node belongs, so that everybody means the same. */
  isSettled: (node?: string) => boolean;
  /** The present one last; undefined: it says nothing about the version of the DaemonSet that the sender knows. */
  statuses: readonly (Status | undefined)[];
  /** The times that it may go by. */
  times: readonly number[];
  /** A node as it may know it; none: it does not know it. */
  node: (name: string) => readonly KnownNode[];
  /** It knows for certain that this plan skips the node. */
  knowsBusy: (name: string, plan: RolloutPlanSpec) => boolean;
  knowsOnline: (node: NodeState) => boolean;
  /** Nodes that are to have a pod, and may be online for all that it knows. */
  mayBeOnline: () => readonly StagedNode[];
  /** By how much its clock differs from the judge's. */
  offsetMs: number;
  /** How exactly it is known when a soak began, and when it ended; and how long before its start a node may have been unwell. */
  slackMs: { begin: number; end: number; unwell: number };
}
