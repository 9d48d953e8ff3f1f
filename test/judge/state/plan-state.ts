import { isDeepStrictEqual } from 'node:util';
import type { Change } from '../../../embedded/index.ts';
import type {
  DaemonRolloutStage,
  DaemonRolloutStatus,
  RolloutApprovalSpec,
  RolloutPlanSpec,
} from '../../../src/words/index.ts';
import { type AnyDaemonSet, openStages, type StagedNode, stageOfNode } from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { CheckContext } from '../check.ts';
import { tolerances } from '../tolerances.ts';
import { generationKey } from './cluster-state.ts';
import { planInForce } from './plan-in-force.ts';

const PLAN_KEY = 'edgeset.io/rollout-plan';

type PlannedStage = NonNullable<RolloutPlanSpec['stages']>[number];

export const stageIn = ({ stages = [] }: RolloutPlanSpec, name: string): PlannedStage | undefined =>
  stages.find((each) => each.name === name);

/** What the plan demands for the stage's promotion. */
export const promoteOf = (spec: RolloutPlanSpec, name: string): PlannedStage['promote'] => stageIn(spec, name)?.promote;

/** Follows the rollout plan of a DaemonSet, what people decided, and the status that was written last. */
export const followPlan = ({
  actual,
  now,
  viewOf,
  clockOf,
  daemonSet,
  rolloutName,
}: Pick<CheckContext, 'actual' | 'now' | 'viewOf' | 'clockOf' | 'daemonSet' | 'rolloutName'>) => {
  /** By plan: its specs, each with when it was replaced; the last one is present. Undefined: deleted, or invalid. */
  const plans = new Map<string, { spec: RolloutPlanSpec | undefined; until: number }[]>();
  let status: DaemonRolloutStatus | undefined;
  let movedAt = Number.NEGATIVE_INFINITY;
  const approvals: { spec: RolloutApprovalSpec; at: number }[] = [];

  const planName = (): string | undefined => actual.daemonSet?.metadata?.annotations?.[PLAN_KEY];
  const specs = () => plans.get(planName() ?? '') ?? [];
  const stageOf = (spec: RolloutPlanSpec, node: StagedNode): string =>
    stageOfNode(spec, status?.stages ?? [], status?.target?.hash ?? '', node);

  return {
    onCommit({ type, resource, object, previous }: Change): void {
      const { name, labels } = object.metadata;
      const before = previous?.metadata.labels;
      if (resource.plural === 'nodes' && labels !== before && !isDeepStrictEqual(labels, before)) movedAt = now();
      if (resource.plural === 'rolloutplans') {
        const specsBefore = plans.get(name) ?? [];
        const last = specsBefore.at(-1);
        if (last) last.until = now();
        const written = type === 'DELETED' ? undefined : (object as unknown as { spec: RolloutPlanSpec }).spec;
        const spec = written && planInForce(written, daemonSet);
        plans.set(name, [...specsBefore.slice(-3), { spec, until: Number.POSITIVE_INFINITY }]);
      }
      if (resource.plural === 'daemonrollouts' && name === rolloutName)
        status = type === 'DELETED' ? undefined : (object.status as DaemonRolloutStatus | undefined);
      if (resource.plural !== 'rolloutapprovals' || type !== 'ADDED') return;
      const { spec } = object as unknown as { spec: RolloutApprovalSpec };
      const isOurs = spec.daemonSet.name === daemonSet.name && spec.daemonSet.apiGroup === daemonSet.group;
      if (isOurs) approvals.push({ spec, at: now() });
    },
    /** The times that a process may go by where the plan is concerned: its clock, corrected by the API server's Date. */
    timesOf(process: string): readonly number[] {
      const own = clockOf(process);
      const apart = Math.abs(own - now());
      const isOwn = apart < tolerances.uncorrectedClock.ms + 2 * tolerances.wholeSecond.ms;
      const isCorrected = apart > tolerances.uncorrectedClock.ms - 2 * tolerances.wholeSecond.ms;
      return [...(isOwn ? [own] : []), ...(isCorrected ? [now(), now() - 2 * tolerances.wholeSecond.ms] : [])];
    },
    /** The DaemonSet names a plan. */
    isStaged: (): boolean => planName() !== undefined,
    get status(): DaemonRolloutStatus | undefined {
      return status;
    },
    get plan(): RolloutPlanSpec | undefined {
      return specs().at(-1)?.spec;
    },
    /**
     * The plans that a process may go by in what it sent then: the present one, those that it replaced a moment ago, the one that
     * the process knows, and the one that it knew when it decided.
     */
    plansOf({ process, at }: Pick<Call, 'process' | 'at'>): readonly RolloutPlanSpec[] {
      const recent = specs().flatMap(({ spec, until }) =>
        spec && now() - until < tolerances.planChange.ms ? [spec] : [],
      );
      const decidedAt = clockOf(process) - (now() - at) - tolerances.decided.ms;
      return [...recent, ...viewOf(process).plansSince(decidedAt)];
    },
    /** Nobody has edited the plan lately, or moved nodes to other stages and groups. */
    isSettled: (): boolean => now() - Math.max(movedAt, specs().at(-2)?.until ?? 0) >= tolerances.planChange.ms,
    /** People's decisions about a stage of the target. `beforeMs`: at least so long ago. */
    decisions: (stage: string, decision: 'Approve' | 'Promote', beforeMs = 0): readonly RolloutApprovalSpec[] =>
      approvals.flatMap(({ spec, at }) =>
        spec.stage === stage &&
        (spec.decision ?? 'Approve') === decision &&
        spec.revision === status?.target?.hash &&
        now() - at >= beforeMs
          ? [spec]
          : [],
      ),
    /** The status is about the target of this version of the DaemonSet, which is the present one. */
    isAbout: (version: AnyDaemonSet | undefined): boolean =>
      version !== undefined &&
      actual.daemonSet !== undefined &&
      generationKey(version) === generationKey(actual.daemonSet) &&
      actual.target !== undefined &&
      status?.target?.hash === actual.target,
    /** Stages, windows and freezes hold nothing back. */
    isLifted: (): boolean => status?.rollback === true || (status?.target?.number ?? 1) <= 1,
    stageOf,
    openIn: (spec: RolloutPlanSpec): readonly string[] => openStages(spec, status?.stages ?? []),
    /** Once all nodes are at the target: stages that are still to be passed. */
    stagesLeft: (): readonly string[] => {
      const spec = specs().at(-1)?.spec;
      if (planName() === undefined || status?.rollback === true || (status?.target?.number ?? 1) <= 1) return [];
      if (spec === undefined || status?.target?.hash !== actual.target) return ['all'];
      const left: string[] = [];
      /** The stages from here on that have nodes. */
      const used = new Set(actual.nodes.values().flatMap((node) => (node.eligible ? [stageOf(spec, node)] : [])));
      for (const { name, promote } of spec.stages ?? []) {
        used.delete(name);
        if (status?.stages?.some((each) => each.name === name && each.promotedAt !== undefined)) continue;
        // Nobody is asked about what no node needs; those of later stages do, also where their pods were created at the target.
        if (promote?.approval?.required && used.size === 0) break;
        left.push(name);
      }
      return left;
    },
    stageNamed: (name: string): DaemonRolloutStage | undefined => status?.stages?.find((each) => each.name === name),
  };
};
export type PlanState = ReturnType<typeof followPlan>;
