import { createGenerator } from '../../support/index.ts';
import type { Operation, Plan, PlannedStep } from './plan.ts';

/**
 * Deletes pods and has nodes join soon after a release, while stages are closed, and has another manager create the pods in some
 * plans. Some DaemonSets ask that partition and node selector keep new pods, too. It draws from its own sequence, so that all else in
 * the plan is as it would be without.
 */
export const withClosedStages = (plan: Plan, over: number): Plan => {
  const chance = createGenerator(plan.seed + 0xc105ed);
  // Where creation is progressive, a partition that is raised in a hook's turn leaves a node without a pod, and its update open.
  if (plan.progressive && plan.hook) return plan;
  if (plan.kind !== 'advanced' || !chance.happens(plan.rolloutPlan ? 0.6 : 0.15)) return plan;
  const steps: PlannedStep[] = [];
  const put = (at: number, operation: Operation): void => {
    if (at < over) steps.push({ at, operation });
  };
  const node = (): string => `node-${chance.between(0, plan.nodes - 1)}`;
  for (const { at, operation } of plan.steps) {
    if (operation.do !== 'release' || operation.set !== undefined) continue;
    for (let count = chance.between(0, 3); count > 0; count -= 1) {
      const then = at + chance.between(200, 20_000);
      put(then, chance.happens(0.75) ? { do: 'delete-pod', node: node() } : { do: 'recreate-node', node: node() });
      if (chance.happens(0.2)) put(then + chance.between(0, 500), { do: 'crash', who: 'leader' });
    }
  }
  return {
    ...plan,
    ...(chance.happens(0.5) && { recreate: 'held-revision' as const }),
    steps: [...plan.steps, ...steps].toSorted((a, b) => a.at - b.at),
  };
};
