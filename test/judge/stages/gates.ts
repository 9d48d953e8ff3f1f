import {
  closedOn,
  type Finding,
  isFree,
  isInOpenStage,
  isInWindow,
  NODE_ZONE_KEY,
  openStages,
} from '../../invariants/index.ts';
import { isFirstRevision, type PlanState, type PlanVersion, type Status } from '../state/follow-plan.ts';
import type { Knowledge } from './knowledge.ts';

/** What one version of the plan and of the status says of a node; `unknown`: the status is not known. */
type Reading = 'unknown' | readonly Finding[];

/**
 * Why the stages, windows and freezes of the plan keep an update of the node back, or that it is busy, by each version of the plan
 * and of the status that somebody may go by. Which stage a node is in, and which are open, is computed here from the plan, the labels
 * of nodes, and the promotions and samples that were written.
 */
const readingsOf = ({ stageOf }: PlanState, name: string, known: Knowledge): readonly Reading[] => {
  const nodes = known.node(name);
  const judge = (status: Status | undefined, version: PlanVersion): Reading => {
    if (version === 'none') return [];
    if (!status) return 'unknown';
    if (isFirstRevision(status)) return [];
    if (version === 'missing')
      return [{ invariant: 'G1', why: 'although its rollout plan does not exist, or is invalid' }];
    const free = isFree({ busy: known.knowsBusy(name, version) });
    if (free) return [free];
    const [stage, ...others] = new Set(nodes.map((node) => stageOf(version, node, status)));
    // The node was moved a moment ago, or is not known.
    if (stage === undefined || others.length > 0) return 'unknown';
    const closings = nodes.flatMap(({ annotations }) =>
      known.times.map((at) => closedOn(version, at, annotations[NODE_ZONE_KEY])),
    );
    const inWindow = isInWindow({ closedBy: closings.includes(undefined) ? undefined : closings.at(-1) });
    const found = status.rollback
      ? [version.windowsOnRollback ? inWindow : undefined]
      : [isInOpenStage({ stage, open: openStages(version, status.stages ?? []) }), inWindow];
    return found.flatMap((each) => each ?? []);
  };
  return known.statuses.flatMap((status) => known.plans.map((version) => judge(status, version)));
};

/** All that the readings say, if each of them says something. */
const certainOf = (readings: readonly Reading[]): readonly Finding[] => {
  const isCertain = readings.every((found) => found !== 'unknown' && found.length > 0);
  const last = readings.at(-1);
  return isCertain && last !== undefined && last !== 'unknown' ? last : [];
};

/** G1: the plan keeps an update of the node back, whatever its sender may have gone by. */
export const gateFindings = (plan: PlanState, name: string, known: Knowledge): readonly Finding[] =>
  certainOf(readingsOf(plan, name, known));

/** Whether the plan keeps the node back: for certain, and why; perhaps; or not. Order and busy nodes are not judged here. */
export const keptByPlan = (
  plan: PlanState,
  name: string,
  known: Knowledge,
): { certainly: readonly Finding[]; perhaps: boolean; byStage: boolean } => {
  const readings = readingsOf(plan, name, known);
  const mayWait = known.plans.some(
    (version) => typeof version !== 'string' && (version.after !== undefined || version.skipNodes !== undefined),
  );
  // A window may have opened or closed a moment ago.
  const mayBeClosed = known.plans.some(
    (version) =>
      typeof version !== 'string' &&
      known
        .node(name)
        .some(({ annotations }) =>
          known.times.some((at) => closedOn(version, at, annotations[NODE_ZONE_KEY]) !== undefined),
        ),
  );
  const certainly = certainOf(readings);
  return {
    certainly,
    byStage: certainly.some(({ why }) => why.startsWith('whose stage ')),
    perhaps: mayWait || mayBeClosed || readings.some((found) => found === 'unknown' || found.length > 0),
  };
};
