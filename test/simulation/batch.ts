import { makePlan } from './make-plan.ts';
import type { FaultKind, Plan } from './plan.ts';
import { type Outcome, play } from './play.ts';
import { addFigures, newTally, type Tally } from './tally.ts';

const rolloutsOf = ({ happenings }: Plan): number => happenings.filter(({ deed }) => deed.do === 'release').length;

const note = (tally: Tally, plan: Plan, outcome: Outcome): void => {
  tally.plans += 1;
  tally.rollouts += rolloutsOf(plan);
  tally.acts += outcome.acts;
  tally.virtualHours += outcome.tookMs / 3_600_000;
  for (const [what, times] of outcome.fired) tally.fired[what] = (tally.fired[what] ?? 0) + times;
  for (const [rule, times] of outcome.checked) tally.checked[rule] = (tally.checked[rule] ?? 0) + times;
  addFigures(tally.figures, outcome.figures);
  const [first] = outcome.breaches;
  if (first) tally.failures.push({ seed: plan.seed, rule: first.rule, text: first.text });
};

const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
};

/** Plays plans of consecutive seeds until so many rollouts are done, or so many plans failed. */
export const playBatch = async (
  first: number,
  rollouts: number,
  kinds: readonly FaultKind[],
  mostFailures = 5,
): Promise<Tally> => {
  const tally = newTally();
  for (let seed = first; tally.rollouts < rollouts && tally.failures.length < mostFailures; seed += 1) {
    const plan = makePlan(seed, kinds);
    const before = cpuSeconds();
    note(tally, plan, await play(plan));
    const took = cpuSeconds() - before;
    tally.cpuSeconds += took;
    if (plan.nodes !== 5) continue;
    tally.ofFive.rollouts += rolloutsOf(plan);
    tally.ofFive.cpuSeconds += took;
  }
  return tally;
};
