import type { RolloutPlanSpec } from '../../../src/words/index.ts';
import { type Finding, nodesOf, withinGroupLimit } from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { CheckContext } from '../check.ts';
import type { NodeState, PodState } from '../state/cluster-state.ts';
import { type PlanState, stageIn } from '../state/plan-state.ts';
import { tolerances } from '../tolerances.ts';

export interface GroupsOptions {
  plan: PlanState;
  /** Nodes with an update in flight, by the actual state. */
  inFlight: () => Iterable<string>;
}

interface Limited {
  group: string;
  limit: number;
  has: (node: NodeState) => boolean;
}

/** G7: as S1, by the actual state, for each group and stage of the plan that has a limit. */
export const createGroupsCheck = (
  { report, actual, now, viewOf, clockOf, settleMs }: CheckContext,
  { plan, inFlight }: GroupsOptions,
) => {
  /** The groups of a node that a plan limits. */
  const groupsOf = (spec: RolloutPlanSpec, node: NodeState): Limited[] => {
    const limitOf = (has: Limited['has'], value: number | string): number =>
      nodesOf(value, [...actual.nodes.values()].filter((each) => each.eligible && has(each)).length);
    const groups = (spec.maxUnavailablePer ?? []).map(({ topologyKey, value }) => {
      const site = node.labels[topologyKey];
      const has = (other: NodeState): boolean => other.labels[topologyKey] === site;
      return { group: `${topologyKey}=${site ?? ''}`, has, limit: limitOf(has, value) };
    });
    const stage = plan.stageOf(spec, node);
    const limit = stageIn(spec, stage)?.maxUnavailable;
    if (limit === undefined) return groups;
    const has = (other: NodeState): boolean => plan.stageOf(spec, other) === stage;
    return [...groups, { group: `stage ${stage}`, has, limit: limitOf(has, limit) }];
  };

  return {
    /** An update reaches the server. Returns what to run once it was executed. */
    begin(call: Call, pod: PodState, what: string): () => void {
      const node = actual.nodes.get(pod.node);
      if (!node || !plan.isStaged() || !plan.isAbout(viewOf(call.process).daemonSet)) return () => undefined;
      const flying = [...inFlight()];
      const sentAt = clockOf(call.process) - (now() - call.at);
      const view = viewOf(call.process);
      const judge = ({ group, limit, has }: Limited): Finding | undefined => {
        report.check('G7');
        const others = flying.filter((name) => {
          const other = actual.nodes.get(name);
          const known = view.nodes.get(name);
          if (name === pod.node || !other?.ready || !has(other) || !known?.ready) return false;
          return known.since === undefined || sentAt - known.since > settleMs + tolerances.decision.ms;
        });
        return withinGroupLimit({ group, others, limit, hasSlot: flying.includes(pod.node) });
      };
      const plans = plan.isSettled() ? plan.plansOf(call) : [];
      const judged = plans.map((spec) => groupsOf(spec, node).flatMap((group) => judge(group) ?? []));
      // Another plan that the sender may go by permits it.
      const found = judged.every((each) => each.length > 0) ? (judged.at(-1) ?? []) : [];
      return () => {
        for (const each of found) report.finding(each, what);
      };
    },
  };
};
