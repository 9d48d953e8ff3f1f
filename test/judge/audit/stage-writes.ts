import type { DaemonRolloutStage, RolloutPlanSpec } from '../../../src/words/index.ts';
import type { Finding, InvariantId } from '../../invariants/index.ts';
import { judgeStageSteps, type Status, type StatusWrite, stagesOf } from '../stages/stage-steps.ts';
import { type ClusterState, livePods, type NodeState, nodesToServe } from '../state/cluster-state.ts';
import { promoteOf, stageIn } from '../state/plan-state.ts';
import { isSpec, type PlanHistory } from './plan-history.ts';
import { isAvailable } from './records.ts';

export interface StageWritesOptions {
  state: ClusterState;
  plan: PlanHistory;
  /** The stage of a node, by a status. */
  stageOf: (spec: RolloutPlanSpec, status: Status, node: NodeState) => string;
  check: (invariant: InvariantId) => void;
  /** `what` completes a sentence that begins with a user. */
  report: (what: string, found: Finding | undefined) => void;
}

/** G1 to G6 and G8, as far as the statuses in the audit log show them. */
export const judgeStageWrites = ({ state, plan, stageOf, check, report }: StageWritesOptions) => {
  const violation = (invariant: InvariantId, what: string, why: string): void => report(what, { invariant, why });
  const membersOf = (spec: RolloutPlanSpec, status: Status, name: string): NodeState[] =>
    nodesToServe(state).filter((node) => stageOf(spec, status, node) === name);

  /** By the only plan that the writer may go by: a node was online, and each check held, as the status says. */
  const onPromotion = (
    { after, at, plans, mayHaveNone, slackMs }: StatusWrite,
    stage: DaemonRolloutStage,
    what: string,
  ) => {
    const { name, promotion } = stage;
    const [spec, ...others] = plans;
    if (!spec || others.length > 0 || mayHaveNone) return;
    if (promotion === 'Gates') {
      check('G3');
      const isOnline = ({ ready, since }: NodeState): boolean => ready || at - since <= slackMs.end;
      if (!membersOf(spec, after, name).some(isOnline)) violation('G3', what, 'of which no node was online');
    }
    const required = promoteOf(spec, name)?.checks ?? [];
    if ((promotion !== 'Gates' && promotion !== 'Timeout') || required.length === 0) return;
    check('G4');
    for (const each of required) {
      const found = stage.checks?.find((one) => one.name === each)?.state ?? 'never evaluated';
      if (found !== 'Passing') violation('G4', what, `whose check ${each} was ${found}`);
    }
  };
  const steps = judgeStageSteps({
    check,
    report,
    countNodes: () => state.nodes.size,
    decidedBy: (revision, stage, decision) => plan.decidedBy(revision, stage, decision),
    onPromotion,
  });

  const checkHalt = (before: Status | undefined, after: Status): void => {
    if (after.halted?.reason !== 'CheckFailed' || before?.halted?.reason === 'CheckFailed') return;
    check('G4');
    if (!stagesOf(after).some(({ checks = [] }) => checks.some(({ state: found }) => found === 'Failed')))
      violation('G4', 'halted the rollout for a check', 'of which none had failed');
  };

  return {
    /** The manager writes a status; it may not know what happened within `lagMs` before. */
    onWrite(before: Status | undefined, after: Status, at: number, lagMs: number): void {
      checkHalt(before, after);
      const known = plan.knownAt(at, lagMs);
      const plans = known.filter(isSpec);
      steps.onWrite({
        before,
        after,
        at,
        plans,
        mayHaveNone: plans.length < known.length,
        mayForget: (name) =>
          name !== 'rest' && known.some((each) => each === 'none' || (isSpec(each) && !stageIn(each, name))),
        offsetMs: 0,
        slackMs: { begin: 0, end: lagMs, unwell: known.length === 1 ? lagMs : Number.POSITIVE_INFINITY },
        askedAt: () => at,
      });
    },
    /** Something happened in the cluster: `status` is the last one. */
    onChange(status: Status | undefined, at: number): void {
      const { soak } = steps;
      if (!soak || !status) return;
      const isWell = (node: NodeState): boolean => {
        const [pod, ...others] = livePods(state, node.name);
        return (
          node.ready &&
          pod !== undefined &&
          others.length === 0 &&
          pod.hash === state.target &&
          isAvailable(state, pod, at)
        );
      };
      const known = plan.knownAt(at, 0);
      if (!known.every((each) => isSpec(each) && membersOf(each, status, soak.stage).every(isWell)))
        steps.noteUnwell(at);
    },
  };
};
