import type { RolloutPlanSpec } from '../../../src/words/index.ts';
import { type Finding, type InvariantId, nodesOf, withinGroupLimit } from '../../invariants/index.ts';
import type { NodeState } from '../state/cluster-state.ts';
import { isSpec, type PlanState, type Status, stageIn } from '../state/follow-plan.ts';
import type { Knowledge } from './knowledge.ts';
import type { StagedCluster } from './staged-cluster.ts';

export interface GroupsOptions {
  plan: PlanState;
  cluster: StagedCluster;
  check: (invariant: InvariantId) => void;
}

/** Other nodes of a node's group or stage, and how many of them may have an update in flight. */
interface Group {
  group: string;
  limit: number;
  has: (node: NodeState) => boolean;
}

/** G7: as S1, by the actual state, for each group and stage of the plan that has a limit. */
export const createGroupRule = ({ plan, cluster, check }: GroupsOptions) => {
  const groupsOf = (spec: RolloutPlanSpec, status: Status, node: NodeState): Group[] => {
    const limitOf = (has: Group['has'], share: number | string): number =>
      nodesOf(share, cluster.nodes().filter(has).length);
    const groups = (spec.maxUnavailablePer ?? []).map(({ topologyKey, value }) => {
      const site = node.labels[topologyKey];
      const has = (other: NodeState): boolean => other.labels[topologyKey] === site;
      return { group: `${topologyKey}=${site ?? ''}`, has, limit: limitOf(has, value) };
    });
    const stage = plan.stageOf(spec, node, status);
    const limit = stageIn(spec, stage)?.maxUnavailable;
    if (limit === undefined) return groups;
    const has = (other: NodeState): boolean => plan.stageOf(spec, other, status) === stage;
    return [...groups, { group: `stage ${stage}`, has, limit: limitOf(has, limit) }];
  };

  /** What an update of the node breaks, by every plan that its sender may go by. */
  return (node: NodeState, known: Knowledge): readonly Finding[] => {
    const status = known.statuses.at(-1);
    if (!status || !known.isSettled(node.name)) return [];
    const flying = [...cluster.inFlight()];
    const judge = ({ group, limit, has }: Group): Finding | undefined => {
      check('G7');
      const others = flying.filter((name) => {
        const other = cluster.state.nodes.get(name);
        return name !== node.name && other !== undefined && has(other) && known.knowsOnline(other);
      });
      return withinGroupLimit({ group, others, limit, hasSlot: flying.includes(node.name) });
    };
    const judged = known.plans
      .filter(isSpec)
      .map((spec) => groupsOf(spec, status, node).flatMap((group) => judge(group) ?? []));
    return judged.every((found) => found.length > 0) ? (judged.at(-1) ?? []) : [];
  };
};
