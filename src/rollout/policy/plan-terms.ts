import type { PlanCheck, PlanWindow, RolloutPlanSpec } from '../../words/index.ts';
import type { Selector } from '../facts/selector.ts';
import type { IntOrPercent } from './int-or-percent.ts';

/** One stage, with defaults filled in. */
export interface Stage {
  name: string;
  /** Undefined: every node. */
  selector: Selector | undefined;
  /** How many of the matching nodes; undefined: all. A percentage is rounded up. */
  count: IntOrPercent | undefined;
  /** Of the stage's online nodes; undefined: only the DaemonSet's own budget. */
  maxUnavailable: IntOrPercent | undefined;
  /** The breaker's threshold while this is the last open stage; undefined: the DaemonSet's own. */
  failureThreshold: IntOrPercent | undefined;
  coverage: IntOrPercent;
  minNodes: number;
  soakMs: number;
  checks: readonly PlanCheck[];
  needsApproval: boolean;
  /** Since the stage opened; undefined: none. */
  timeoutMs: number | undefined;
  promotesOnTimeout: boolean;
}

/** One node of a group, or its share of the group's online nodes, may be down at a time. */
export interface GroupLimit {
  topologyKey: string;
  value: IntOrPercent;
}

/** A DaemonSet whose update comes first. */
export interface Predecessor {
  apiGroup: 'apps' | 'apps.kruise.io';
  name: string;
  /** Node: its pod on the same node is at its target and available. Rollout: its rollout is complete. */
  scope: 'Node' | 'Rollout';
}

/** Times are epoch milliseconds; `to` is exclusive. */
export interface Freeze {
  from: number;
  to: number;
  reason?: string;
}

/** When a plan lets updates begin. */
export interface Calendar {
  /** None: at any time. */
  windows: readonly PlanWindow[];
  freezes: readonly Freeze[];
}

/** Nodes that begin no update for now: whatever of this applies. */
export interface BusyNodes {
  /** Undefined: labels say nothing. */
  selector: Selector | undefined;
  taints: ReadonlySet<string>;
  conditions: ReadonlySet<string>;
}

/** A rollout plan as a part of the policy of the DaemonSets that name it, parsed once for each change. */
export interface Plan {
  /** As it was written: two plans with the same spec are the same policy. */
  spec: RolloutPlanSpec;
  /** The stages, and `rest` as the last one; empty if the plan has none. */
  stages: readonly Stage[];
  calendar: Calendar;
  windowsOnRollback: boolean;
  groups: readonly GroupLimit[];
  after: readonly Predecessor[];
  /** Undefined: no node is. */
  busy: BusyNodes | undefined;
}
