import { runPlan } from '../run-plan.ts';
import type { Operation, Plan, PlannedStep } from './plan.ts';

/** Nodes that steps name, and one more at least. */
const nodesNamed = (steps: readonly PlannedStep[]): number =>
  steps.reduce(
    (most, { operation }) =>
      'node' in operation ? Math.max(most, Number(operation.node.slice('node-'.length)) + 1) : most,
    1,
  );

const onNodes = (plan: Plan, nodes: number): Plan => ({
  ...plan,
  nodes,
  steps: plan.steps.filter(
    ({ operation }) => !('node' in operation) || Number(operation.node.slice('node-'.length)) < nodes,
  ),
});

/** Smaller plans that may violate the same invariant, the smallest first. */
function* smaller(plan: Plan): Generator<Plan> {
  const { steps, nodes } = plan;
  for (let fewer = nodesNamed([]); fewer < nodes; fewer += 1) yield onNodes(plan, fewer);
  if (plan.others) {
    const { others: _, ...alone } = plan;
    const about = (operation: Operation): number => ('set' in operation ? (operation.set ?? 0) : 0);
    yield { ...alone, steps: steps.filter(({ operation }) => about(operation) === 0) };
  }
  for (const trait of ['hook', 'predownload', 'parallelism', 'pullSeconds', 'progressive', 'partition'] as const)
    if (plan[trait] !== undefined) {
      const { [trait]: _, ...without } = plan;
      yield without;
    }
  if (plan.managers > 1) yield { ...plan, managers: 1 };
  if (plan.settleSeconds > 0) yield { ...plan, settleSeconds: 0 };
  if (plan.minReadySeconds > 0) yield { ...plan, minReadySeconds: 0 };
  // The final recovery stays: otherwise the plan would fail because its faults never end.
  const end = steps.findLastIndex(({ operation }) => operation.do === 'recover');
  const count = end < 0 ? steps.length : end;
  for (let size = Math.ceil(count / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < count; from += size) {
      const to = Math.min(from + size, count);
      yield { ...plan, steps: steps.filter((_, index) => index < from || index >= to) };
    }
}

/**
 * The smallest plan that still violates the invariant, found with at most this many runs. Each round continues from the first
 * smaller plan that fails; it ends when none does.
 */
export const shrink = async (plan: Plan, invariant: string, most = 400): Promise<{ plan: Plan; runs: number }> => {
  let best = plan;
  let runs = 0;
  for (let found = true; found && runs < most; ) {
    found = false;
    for (const candidate of smaller(best)) {
      if (runs >= most) break;
      runs += 1;
      const { violations } = await runPlan(candidate);
      if (!violations.some((violation) => violation.invariant === invariant)) continue;
      best = candidate;
      found = true;
      break;
    }
  }
  return { plan: best, runs };
};
