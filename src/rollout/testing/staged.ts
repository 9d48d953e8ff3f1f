import type { PlanStage, PlanStagePromotion, RolloutPlanSpec } from '../../words/index.ts';
import { restore } from '../fleet/persist.ts';
import type { Approval } from '../plan/approval.ts';
import { matchingStages } from '../plan/membership.ts';
import { percent } from '../policy/int-or-percent.ts';
import { statusOf } from '../report/status.ts';
import { benchAt, daemonSetName, planOf, START, type Workbench } from './workbench.ts';

export const SECOND = 1_000;
/** The annotation of the DaemonSet. */
export const rolloutPlan = { name: 'rings', cluster: false };

/** A stage of the nodes whose label `ring` is its name. */
export const ring = (name: string, promote: PlanStagePromotion = {}, nodes: PlanStage['nodes'] = {}): PlanStage => ({
  name,
  nodes: { selector: { matchLabels: { ring: name } }, ...nodes },
  promote,
});

/** Says again which stages' selectors match the nodes; `rings` are the values of their label `ring`. */
export const replan = (bench: Workbench, spec: RolloutPlanSpec, rings: readonly string[]): void => {
  const plan = planOf(spec);
  bench.policy({ rolloutPlan, plan });
  for (const [index, name] of rings.entries())
    bench.node(`n${index}`, { stages: matchingStages(plan, { ring: name }) });
};

/** Nodes at `a` in these rings, the target `b`, and a budget that holds nothing back. */
export const stagedBench = (stages: PlanStage[], rings: readonly string[]): Workbench => {
  const bench = benchAt(rings.length, { maxUnavailable: percent(100) });
  bench.ledger.patchState({ startedAt: START }, START);
  replan(bench, { stages }, rings);
  return bench;
};

/** Ann approves a stage of `b`. */
export const approve = (bench: Workbench, stage: string, change: Partial<Approval> = {}): void =>
  bench.ledger.setApprovals([
    ...bench.ledger.approvals,
    { revision: 'b', stage, decision: 'Approve', by: 'ann', ...change },
  ]);

/** The open stage, and what it waits for. */
export const waits = (bench: Workbench): string | undefined => {
  const { stage } = bench.decide().summary;
  return stage && `${stage.name} ${stage.wait}`;
};

/** The stages that were passed, and how. */
export const promoted = (bench: Workbench): string[] =>
  bench.ledger.state.stages.flatMap((stage) => (stage.promoted ? [`${stage.name} ${stage.promoted.how}`] : []));

/** Saves the rollout as it is written, and reads it into another process. */
export const failOver = (bench: Workbench): void => {
  const now = bench.now();
  const status = statusOf({
    ledger: bench.ledger,
    decision: bench.decide(),
    generation: 1,
    daemonSetGeneration: 1,
    policyHash: '',
    daemonSet: daemonSetName,
    previous: undefined,
    now,
  });
  const { state, updates, forgiven } = restore(status);
  bench.ledger.restore(state, updates, forgiven, now);
};
