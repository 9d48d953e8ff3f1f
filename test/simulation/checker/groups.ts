import { type Finding, nodesOf, withinGroupLimit } from '../../invariants/index.ts';
import type { Call } from '../network/call.ts';
import type { CheckContext } from './check.ts';
import type { NodeState, PodState } from './cluster-state.ts';
import { type PlanState, stageIn } from './plan-state.ts';

/** Updates that only count when they were seen to be in flight for so long. */
const SLACK_MS = 1_000;

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
  /** The groups of a node, each with the largest limit that its sender may go by. */
  const groupsOf = (node: NodeState): Limited[] => {
    const groups = new Map<string, Limited>();
    const add = (group: string, has: Limited['has'], value: number | string): void => {
      const online = [...actual.nodes.values()].filter((each) => each.eligible && has(each));
      const limit = nodesOf(value, online.length);
      groups.set(group, { group, has, limit: Math.max(limit, groups.get(group)?.limit ?? 0) });
    };
    const plans = plan.recentPlans();
    for (const spec of plans) {
      for (const { topologyKey, value } of spec.maxUnavailablePer ?? []) {
        const site = node.labels[topologyKey];
        add(`${topologyKey}=${site ?? ''}`, (other) => other.labels[topologyKey] === site, value);
      }
      const stage = plan.stageOf(spec, node);
      const limit = stageIn(spec, stage)?.maxUnavailable;
      if (limit !== undefined) add(`stage ${stage}`, (other) => plan.stageOf(spec, other) === stage, limit);
    }
    // A limit that only one of the plans has may be unknown to the sender.
    return plan.isSettled() ? [...groups.values()] : [];
  };

  return {
    /** An update reaches the server. Returns what to run once it was executed. */
    begin(call: Call, pod: PodState, what: string): () => void {
      const node = actual.nodes.get(pod.node);
      if (!node || !plan.isStaged() || !plan.isAbout(viewOf(call.process).daemonSet)) return () => undefined;
      const flying = [...inFlight()];
      const sentAt = clockOf(call.process) - (now() - call.at);
      const view = viewOf(call.process);
      const found: (Finding | undefined)[] = groupsOf(node).map(({ group, limit, has }) => {
        report.check('G7');
        const others = flying.filter((name) => {
          const other = actual.nodes.get(name);
          const known = view.nodes.get(name);
          if (name === pod.node || !other?.ready || !has(other) || !known?.ready) return false;
          return known.since === undefined || sentAt - known.since > settleMs + SLACK_MS;
        });
        return withinGroupLimit({ group, others, limit, hasSlot: flying.includes(pod.node) });
      });
      return () => {
        for (const each of found) report.finding(each, what);
      };
    },
  };
};
