import { isDeepStrictEqual } from 'node:util';
import type {
  DaemonRolloutStage,
  DaemonRolloutStatus,
  RolloutApprovalSpec,
  RolloutPlanSpec,
} from '../../../src/words/index.ts';
import { isBusy, type MarkedNode, openStages, type StagedNode, stageOfNode } from '../../invariants/index.ts';
import { UNCOMPILABLE_CONDITION } from '../../simulation/network/prometheus.ts';
import type { ClusterState, Executed, NodeState } from './cluster-state.ts';
import { createTimeline, type Timeline } from './timeline.ts';

/** The annotation of a DaemonSet that names its plan. */
export const PLAN_KEY = 'edgeset.io/rollout-plan';

export type Status = DaemonRolloutStatus;

/** What a DaemonSet's rollout goes by: its plan, a plan that does not exist or is invalid, or no plan at all. */
export type PlanVersion = RolloutPlanSpec | 'missing' | 'none';

type PlannedStage = NonNullable<RolloutPlanSpec['stages']>[number];
type Decision = NonNullable<RolloutApprovalSpec['decision']>;

export const isSpec = (version: PlanVersion): version is RolloutPlanSpec => typeof version !== 'string';

export const stageIn = ({ stages = [] }: RolloutPlanSpec, name: string): PlannedStage | undefined =>
  stages.find((each) => each.name === name);

/** What the plan demands for the stage's promotion. */
export const promoteOf = (spec: RolloutPlanSpec, name: string): PlannedStage['promote'] => stageIn(spec, name)?.promote;

/** The first revision of a new DaemonSet, whose pods its controller creates: no plan holds it back. */
export const isFirstRevision = ({ target, rollback, lastComplete }: Status): boolean =>
  target === undefined ||
  (target.number === 1 && rollback !== true && (lastComplete?.hash ?? target.hash) === target.hash);

/**
 * What of a DaemonSet's plan is in force: an invalid one permits as little as one that does not exist. The simulation's invalid plans
 * have a condition that does not compile, or name their DaemonSet in `after`.
 */
export const planInForce = (
  spec: RolloutPlanSpec,
  { group, name }: { group: string; name: string },
): RolloutPlanSpec | undefined => {
  const { checks = [], after = [] } = spec;
  const isUncompilable = checks.some(({ prometheus }) => prometheus?.condition === UNCOMPILABLE_CONDITION);
  const isCycle = after.some(({ apiGroup = 'apps', ...other }) => apiGroup === group && other.name === name);
  return isUncompilable || isCycle ? undefined : spec;
};

export interface FollowPlanOptions {
  daemonSet: { group: string; name: string; namespace?: string };
  /** The name of the DaemonRollout. */
  rollout: string;
  state: ClusterState;
}

/**
 * Follows the rollout plan of a DaemonSet, what people decided, where nodes belong by their labels, and the status of the rollout.
 * Call `apply` with each write after `state` has applied it.
 */
export const followPlan = ({ daemonSet, rollout, state }: FollowPlanOptions) => {
  const { group, name, namespace = 'default' } = daemonSet;
  const specs = new Map<string, RolloutPlanSpec>();
  const versions = createTimeline<PlanVersion>('none', isDeepStrictEqual);
  const statuses = createTimeline<Status | undefined>(undefined);
  const labels = new Map<string, Timeline<NodeState['labels']>>();
  /** What may mark a node as busy. */
  const marks = new Map<string, Timeline<MarkedNode>>();
  const busy = new Set<string>();
  let movedAt = Number.NEGATIVE_INFINITY;
  const approvals: { by: string; spec: RolloutApprovalSpec; at: number }[] = [];

  const planName = (): string | undefined => state.daemonSet?.metadata?.annotations?.[PLAN_KEY];
  const noteVersion = (at: number): void => {
    const key = planName();
    if (state.daemonSet) versions.note(key === undefined ? 'none' : (specs.get(key) ?? 'missing'), at);
  };
  const applyPlan = (key: string, { type, object, answeredAt }: Executed): void => {
    const spec =
      type === 'DELETED' ? undefined : planInForce((object as { spec: RolloutPlanSpec }).spec, { group, name });
    if (spec) specs.set(key, spec);
    else specs.delete(key);
    noteVersion(answeredAt);
  };
  const followMarks = (node: string, at: number): void => {
    const present = state.nodes.get(node);
    if (!present) {
      busy.delete(node);
      return;
    }
    const { name: key, labels: own, taints, conditions } = present;
    const marked: MarkedNode = { name: key, labels: own, taints, conditions };
    const known = marks.get(node);
    if (known) known.note(marked, at);
    else marks.set(node, createTimeline(marked, isDeepStrictEqual));
    const plan = versions.present;
    if (busy.has(node) === (isSpec(plan) && isBusy(plan, marked))) return;
    if (busy.has(node)) busy.delete(node);
    else busy.add(node);
    movedAt = at;
  };
  const applyNode = (node: string, { type, answeredAt }: Executed): void => {
    followMarks(node, answeredAt);
    const present = state.nodes.get(node)?.labels;
    const known = labels.get(node);
    const before = known?.present;
    if (type === 'ADDED') movedAt = answeredAt;
    if (!present || present === before) return;
    if (known) known.note(present, answeredAt);
    else labels.set(node, createTimeline(present, isDeepStrictEqual));
    if (!isDeepStrictEqual(present, before)) movedAt = answeredAt;
  };
  const stageOf = (spec: RolloutPlanSpec, node: StagedNode, of: Status | undefined = statuses.present): string =>
    stageOfNode(spec, of?.stages ?? [], of?.target?.hash ?? '', node);

  return {
    apply(write: Executed): void {
      const { type, resource, by, arrivedAt, answeredAt } = write;
      const { metadata } = write.object as { metadata: { name: string; namespace?: string } };
      if (resource.plural === 'nodes') applyNode(metadata.name, write);
      if (resource.plural === 'clusterrolloutplans') applyPlan(`cluster/${metadata.name}`, write);
      if (metadata.namespace !== namespace) return;
      switch (resource.plural) {
        case 'daemonsets':
          noteVersion(answeredAt);
          return;
        case 'rolloutplans':
          applyPlan(metadata.name, write);
          return;
        case 'daemonrollouts':
          // Whoever arrives before the next status arrives goes by this one.
          if (metadata.name === rollout)
            statuses.note(type === 'DELETED' ? undefined : (write.object as { status?: Status }).status, arrivedAt);
          return;
        case 'rolloutapprovals': {
          const { spec } = write.object as { spec: RolloutApprovalSpec };
          const isOurs = spec.daemonSet.name === name && spec.daemonSet.apiGroup === group;
          if (type === 'ADDED' && isOurs) approvals.push({ by: by ?? spec.approvedBy, spec, at: answeredAt });
          return;
        }
        default:
      }
    },
    /** The DaemonSet names a plan. */
    isStaged: (): boolean => planName() !== undefined,
    /** The plan in force; undefined: there is none, it does not exist, or it is invalid. */
    get plan(): RolloutPlanSpec | undefined {
      return isSpec(versions.present) ? versions.present : undefined;
    },
    /** What the rollout has gone by since. */
    versionsSince: versions.since,
    get status(): Status | undefined {
      return statuses.present;
    },
    statusesSince: statuses.since,
    /** The node as it has been since, as far as its labels are concerned; none: there is no such node. */
    nodeSince(node: string, at: number): readonly NodeState[] {
      const present = state.nodes.get(node);
      return present ? (labels.get(node)?.since(at) ?? []).map((each) => ({ ...present, labels: each })) : [];
    },
    /** By what may mark the node as busy, as it has been since; none: there is no such node. */
    marksSince: (node: string, at: number): readonly MarkedNode[] =>
      state.nodes.has(node) ? (marks.get(node)?.since(at) ?? []) : [],
    /** When somebody last edited the plan, or moved nodes to other stages and groups, or when a node became busy or free. */
    changedAt: (): number => Math.max(movedAt, versions.changedAt()),
    /** People who decided this about a stage, at this time at the latest. */
    decidedBy: (revision: string, stage: string, decision: Decision, until = Infinity): readonly string[] =>
      approvals.flatMap(({ by, spec, at }) =>
        spec.stage === stage && (spec.decision ?? 'Approve') === decision && spec.revision === revision && at <= until
          ? [by]
          : [],
      ),
    /** Stages hold nothing back: nothing is staged on the way back to the revision that was last complete, either. */
    isLifted: (): boolean => {
      const status = statuses.present;
      return status === undefined || status.rollback === true || isFirstRevision(status);
    },
    /** By the labels of the node, and the samples that the status has; default: the last one. */
    stageOf,
    openIn: (spec: RolloutPlanSpec): readonly string[] => openStages(spec, statuses.present?.stages ?? []),
    stageNamed: (stage: string): DaemonRolloutStage | undefined =>
      statuses.present?.stages?.find((each) => each.name === stage),
  };
};
export type PlanState = ReturnType<typeof followPlan>;
