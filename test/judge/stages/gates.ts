import {
  closedOn,
  type Finding,
  isInOpenStage,
  isInWindow,
  NODE_ZONE_KEY,
  openStages,
} from '../../invariants/index.ts';
import { isFirstRevision, type PlanState, type PlanVersion, type Status } from '../state/follow-plan.ts';
import type { Knowledge } from './knowledge.ts';

/**
 * G1: why the stages, windows and freezes of the plan keep an update of the node back. Which stage a node is in, and which are open,
 * is computed here from the plan, the labels of nodes, and the promotions and samples that were written.
 */
export const gateFindings = ({ stageOf }: PlanState, name: string, known: Knowledge): readonly Finding[] => {
  const nodes = known.node(name);
  const judge = (status: Status | undefined, version: PlanVersion): readonly Finding[] => {
    if (!status || version === 'none' || isFirstRevision(status)) return [];
    if (version === 'missing')
      return [{ invariant: 'G1', why: 'although its rollout plan does not exist, or is invalid' }];
    const [stage, ...others] = new Set(nodes.map((node) => stageOf(version, node, status)));
    // The node was moved a moment ago, or is not known.
    if (stage === undefined || others.length > 0) return [];
    const closings = nodes.flatMap(({ annotations }) =>
      known.times.map((at) => closedOn(version, at, annotations[NODE_ZONE_KEY])),
    );
    const inWindow = isInWindow({ closedBy: closings.includes(undefined) ? undefined : closings.at(-1) });
    const found = status.rollback
      ? [version.windowsOnRollback ? inWindow : undefined]
      : [isInOpenStage({ stage, open: openStages(version, status.stages ?? []) }), inWindow];
    return found.flatMap((each) => each ?? []);
  };
  const judged = known.statuses.flatMap((status) => known.plans.map((version) => judge(status, version)));
  return judged.every((found) => found.length > 0) ? (judged.at(-1) ?? []) : [];
};
