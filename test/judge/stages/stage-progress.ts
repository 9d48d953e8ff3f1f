import type { Node } from 'kubernetes-types/core/v1.d.ts';
import type { RolloutPlanSpec } from '../../../src/words/index.ts';
import { isAvailable, isBusy, nodesOf, policyOf } from '../../invariants/index.ts';
import type { CheckContext } from '../check.ts';
import { isEligible } from '../state/cluster-state.ts';
import type { PlanState } from '../state/follow-plan.ts';
import { tolerances } from '../tolerances.ts';
import { markedNode, type ProcessKnowledge } from './process-knowledge.ts';

/** A stage that a leader could lead further now. */
export interface WaitingStage {
  /** Tells it from others, and from what it waited for before. */
  key: string;
  text: string;
  /** Some of its nodes are offline, or busy. */
  offline: boolean;
}

/** What is left to do about the stages of a plan, by what the leader has observed: for L5, L9, G3 and G6. */
export const createStageProgressCheck = (
  { actual, now, viewOf, clockOf }: CheckContext,
  plan: PlanState,
  knowledge: ProcessKnowledge,
) => {
  const mayBeJudged = (process: string): RolloutPlanSpec | undefined => {
    const view = viewOf(process);
    return knowledge.isSettled() && knowledge.isAbout(view.daemonSet) ? plan.plan : undefined;
  };

  return {
    /** The DaemonSet names no plan, or the plan holds nothing back but by its stages. */
    isPlain(process: string): boolean {
      if (!plan.isStaged()) return true;
      const spec = mayBeJudged(process);
      if (!spec || (spec.maxUnavailablePer ?? []).length > 0) return false;
      if (plan.isLifted()) return spec.windowsOnRollback !== true;
      const hasLimits = spec.stages?.some(({ maxUnavailable }) => maxUnavailable !== undefined);
      return (
        !hasLimits &&
        (spec.windows ?? []).length === 0 &&
        !spec.freezes?.some(
          ({ to }) => Date.parse(to) + tolerances.decision.ms > Math.min(...knowledge.timesOf(process)),
        )
      );
    },
    isLifted: (): boolean => plan.isStaged() && plan.isLifted(),
    /** The node is not busy, and its stage was open when the status was written. */
    permits(name: string, node: Node): boolean {
      const spec = plan.plan;
      if (!plan.isStaged()) return true;
      if (spec && isBusy(spec, markedNode(node))) return false;
      if (plan.isLifted()) return true;
      const labels = node.metadata?.labels ?? {};
      return spec !== undefined && plan.openIn(spec).includes(plan.stageOf(spec, { name, labels }));
    },
    /** Once all nodes are at the target: stages that are still to be passed. */
    left(): readonly string[] {
      if (!plan.isStaged() || plan.isLifted()) return [];
      const spec = plan.plan;
      if (spec === undefined || plan.status?.target?.hash !== actual.target) return ['all'];
      const left: string[] = [];
      /** The stages from here on that have nodes. */
      const used = new Set(actual.nodes.values().flatMap((node) => (node.eligible ? [plan.stageOf(spec, node)] : [])));
      for (const { name, promote } of spec.stages ?? []) {
        used.delete(name);
        if (plan.stageNamed(name)?.promotedAt !== undefined) continue;
        // Nobody is asked about what no node needs; those of later stages do, also where their pods were created at the target.
        if (promote?.approval?.required && used.size === 0) break;
        left.push(name);
      }
      return left;
    },
    /** The open stage, if its conditions hold and that is not noted yet. Nothing else holds the rollout. */
    waiting(process: string): WaitingStage | undefined {
      const spec = plan.isStaged() && !plan.isLifted() ? mayBeJudged(process) : undefined;
      const view = viewOf(process);
      // With a budget of zero nothing is promoted.
      if (!spec || !view.daemonSet || Number.parseInt(String(policyOf(view.daemonSet).limit), 10) === 0)
        return undefined;
      const open = plan.openIn(spec);
      const stage = spec.stages?.find(
        ({ name }) => open.includes(name) && plan.stageNamed(name)?.promotedAt === undefined,
      );
      if (!stage) return undefined;
      const { promote = {}, name } = stage;
      const at = clockOf(process);
      const { minReadyMs } = policyOf(view.daemonSet);
      const known = plan.stageNamed(name);
      let online = 0;
      let size = 0;
      for (const [node, { ready, since, node: object }] of view.nodes) {
        if (!isEligible(object, view.daemonSet)) continue;
        if (plan.stageOf(spec, { name: node, labels: object.metadata?.labels ?? {} }) !== name) continue;
        size += 1;
        // Neither online nor offline for certain.
        if (since !== undefined && at - since < tolerances.decision.ms) return undefined;
        if (!ready) continue;
        const [pod, ...others] = view.podsOn(node);
        const isAtTarget = pod?.hash === actual.target && others.length === 0;
        // It counts once it is updated, and while its update is under way.
        const isSkipped =
          isBusy(spec, markedNode(object)) && others.length === 0 && pod && !isAtTarget && !pod.terminating;
        if (isSkipped) continue;
        online += 1;
        if (!pod || !isAtTarget || !isAvailable(pod, minReadyMs + tolerances.decision.ms, at)) return undefined;
      }
      const isOpened = known?.openedAt !== undefined;
      if (stage.nodes?.count !== undefined && !isOpened) return undefined;
      const isEmpty = size === 0;
      if (!isEmpty && (online === 0 || online < Math.min(promote.minNodes ?? 1, size))) return undefined;
      if (!isEmpty && online < nodesOf(promote.coverage ?? '100%', online)) return undefined;
      const offline = online < size;
      if (!isEmpty && known?.soakUntil === undefined)
        return { key: `${name} soak`, text: `the soak of ${name} begins`, offline };
      if (!isEmpty && Date.parse(known?.soakUntil ?? '') > Math.min(...knowledge.timesOf(process))) return undefined;
      if (promote.checks !== undefined) return undefined;
      const isApproved =
        plan.decidedBy(actual.target ?? '', name, 'Approve', now() - tolerances.decision.ms).length > 0;
      if (!isEmpty && promote.approval?.required && !isApproved) return undefined;
      return { key: `${name} promotion`, text: `${name} is passed`, offline };
    },
  };
};
export type StageProgress = ReturnType<typeof createStageProgressCheck>;
