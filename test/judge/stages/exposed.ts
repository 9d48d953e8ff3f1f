import type { DaemonRolloutStatus } from '../../../src/words/index.ts';
import { openStages } from '../../invariants/index.ts';
import { isEligible } from '../state/cluster-state.ts';
import { isFirstRevision, type PlanState } from '../state/follow-plan.ts';
import type { ProcessView } from '../state/process-view.ts';
import type { ProcessKnowledge } from './process-knowledge.ts';

/** What a status has to say of one closed stage: so many nodes for certain, and those of which its writer may not know yet. */
interface Expected {
  certain: number;
  possible: number;
}

/**
 * S16: how many nodes of closed stages have a pod of the target, counted by what the writer of a status had observed when it decided. In
 * every other stage there is none, and none in any stage where nothing is held back.
 */
export const createExposedRule = (plan: PlanState, knowledge: ProcessKnowledge) => {
  const expectedIn = (status: DaemonRolloutStatus, view: ProcessView, decidedAt: number): Map<string, Expected> => {
    const { target, rollback, lastComplete, stages = [] } = status;
    const expected = new Map<string, Expected>();
    const spec = plan.plan;
    if (!spec || !target || rollback || isFirstRevision(status) || lastComplete?.hash === target.hash) return expected;
    const open = openStages(spec, stages);
    for (const [name, { node }] of view.nodes) {
      if (!isEligible(node, view.daemonSet)) continue;
      const stage = plan.stageOf(spec, { name, labels: node.metadata?.labels ?? {} }, status);
      if (open.includes(stage)) continue;
      const count = expected.get(stage) ?? { certain: 0, possible: 0 };
      const isNews = view.podsMovedAt(name) >= decidedAt;
      const isExposed = view.podsOn(name).some((pod) => pod.hash === target.hash && !pod.terminating);
      if (isExposed && !isNews) count.certain += 1;
      if (isExposed || isNews) count.possible += 1;
      expected.set(stage, count);
    }
    return expected;
  };

  /** What is wrong; undefined for nothing. `decidedAt`: the writer knew all that it had observed by then, by its own clock. */
  return (status: DaemonRolloutStatus, view: ProcessView, decidedAt: number): string | undefined => {
    if (!plan.isStaged() || !knowledge.isSettled() || !knowledge.isAbout(view.daemonSet)) return undefined;
    if (view.nodesMovedAt >= decidedAt) return undefined;
    const expected = expectedIn(status, view, decidedAt);
    for (const { name, nodes } of status.stages ?? []) {
      const { exposed = 0 } = nodes;
      const { certain, possible } = expected.get(name) ?? { certain: 0, possible: 0 };
      if (exposed < certain || exposed > possible)
        return `${exposed} exposed nodes of stage ${name}, and has observed ${possible}`;
    }
    return undefined;
  };
};
export type ExposedRule = ReturnType<typeof createExposedRule>;
