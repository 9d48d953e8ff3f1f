import { generatePlan } from './plan/generate-plan.ts';
import type { FaultKind, Plan } from './plan/plan.ts';
import { type Outcome, runPlan } from './run-plan.ts';
import { emptyTotals, mergeSums, type Totals } from './totals.ts';

const rolloutsOf = ({ steps }: Plan): number => steps.filter(({ operation }) => operation.do === 'release').length;

const addOutcome = (totals: Totals, plan: Plan, outcome: Outcome, cpuSeconds: number): void => {
  const rollouts = rolloutsOf(plan);
  totals.plans += 1;
  totals.rollouts += rollouts;
  totals.updates += outcome.updates;
  totals.virtualHours += outcome.tookMs / 3_600_000;
  totals.cpuSeconds += cpuSeconds;
  if (plan.nodes === 5) {
    totals.ofFive.rollouts += rollouts;
    totals.ofFive.cpuSeconds += cpuSeconds;
  }
  totals.fired = mergeSums(totals.fired, outcome.fired);
  totals.checked = mergeSums(totals.checked, outcome.checked);
  totals.figures = mergeSums(totals.figures, outcome.figures);
  const [first] = outcome.violations;
  if (first) totals.failures.push({ seed: plan.seed, invariant: first.invariant, text: first.text });
};

const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
};

/** Runs the plans of consecutive seeds until this many rollouts are done, or this many plans have failed. */
export const runBatch = async (
  first: number,
  rollouts: number,
  kinds: readonly FaultKind[],
  maxFailures = 5,
): Promise<Totals> => {
  const totals = emptyTotals();
  let playing: number | undefined;
  // What a timer of the simulation throws ends the process.
  const tell = (): void => {
    if (playing !== undefined) console.error(`the plan of seed ${playing} threw: npm run sim -- --seed ${playing}`);
  };
  process.on('uncaughtExceptionMonitor', tell);
  for (let seed = first; totals.rollouts < rollouts && totals.failures.length < maxFailures; seed += 1) {
    playing = seed;
    const plan = generatePlan(seed, kinds);
    const before = cpuSeconds();
    const outcome = await runPlan(plan);
    addOutcome(totals, plan, outcome, cpuSeconds() - before);
  }
  process.off('uncaughtExceptionMonitor', tell);
  return totals;
};
