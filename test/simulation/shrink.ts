import type { Deed, Happening, Plan } from './plan.ts';
import { play } from './play.ts';

/** Nodes that happenings name, and one more at least. */
const nodesNamed = (happenings: readonly Happening[]): number =>
  happenings.reduce(
    (most, { deed }) => ('node' in deed ? Math.max(most, Number(deed.node.slice('node-'.length)) + 1) : most),
    1,
  );

const onNodes = (plan: Plan, nodes: number): Plan => ({
  ...plan,
  nodes,
  happenings: plan.happenings.filter(
    ({ deed }) => !('node' in deed) || Number(deed.node.slice('node-'.length)) < nodes,
  ),
});

/** Smaller plans that may fail in the same way, the smallest first. */
function* smaller(plan: Plan): Generator<Plan> {
  const { happenings, nodes } = plan;
  for (let fewer = nodesNamed([]); fewer < nodes; fewer += 1) yield onNodes(plan, fewer);
  if (plan.others) {
    const { others: _, ...alone } = plan;
    const about = (deed: Deed): number => ('set' in deed ? (deed.set ?? 0) : 0);
    yield { ...alone, happenings: happenings.filter(({ deed }) => about(deed) === 0) };
  }
  for (const trait of ['hook', 'predownload', 'parallelism', 'pullSeconds', 'progressive', 'partition'] as const)
    if (plan[trait] !== undefined) {
      const { [trait]: _, ...without } = plan;
      yield without;
    }
  if (plan.managers > 1) yield { ...plan, managers: 1 };
  if (plan.settleSeconds > 0) yield { ...plan, settleSeconds: 0 };
  if (plan.minReadySeconds > 0) yield { ...plan, minReadySeconds: 0 };
  // What mends everything in the end stays: else a plan would fail for faults that last for ever.
  const end = happenings.findLastIndex(({ deed }) => deed.do === 'mend');
  const count = end < 0 ? happenings.length : end;
  for (let size = Math.ceil(count / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < count; from += size) {
      const to = Math.min(from + size, count);
      yield { ...plan, happenings: happenings.filter((_, index) => index < from || index >= to) };
    }
}

/**
 * The smallest plan that still breaks this rule, found within so many runs. Each step is taken from the first smaller plan
 * that fails; none that does means that the plan is as small as it gets this way.
 */
export const shrink = async (plan: Plan, rule: string, most = 400): Promise<{ plan: Plan; runs: number }> => {
  let best = plan;
  let runs = 0;
  for (let found = true; found && runs < most; ) {
    found = false;
    for (const candidate of smaller(best)) {
      if (runs >= most) break;
      runs += 1;
      const { breaches } = await play(candidate);
      if (!breaches.some((breach) => breach.rule === rule)) continue;
      best = candidate;
      found = true;
      break;
    }
  }
  return { plan: best, runs };
};
