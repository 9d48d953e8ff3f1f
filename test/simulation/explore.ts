import type { Violation } from './checker/report.ts';
import type { CallFault } from './network/call.ts';
import type { Plan } from './plan/plan.ts';
import { runPlan } from './run-plan.ts';
import { type Scenario, scenarios } from './scenarios/index.ts';

/** What is done to a process at each of its writes. */
export interface ExploredFault {
  name: string;
  /** Processes of the plan. */
  managers: number;
  faults: readonly CallFault[];
}

/** Long enough for another to lead, so that two do at once when it goes on. */
const ASLEEP_MS = 25_000;

export const exploredFaults: readonly ExploredFault[] = [
  {
    name: 'crash',
    managers: 1,
    faults: [
      { kind: 'crash', when: 'before' },
      { kind: 'crash', when: 'after' },
    ],
  },
  {
    name: 'two leaders',
    managers: 2,
    faults: [
      { kind: 'stop', when: 'before', ms: ASLEEP_MS },
      { kind: 'stop', when: 'after', ms: ASLEEP_MS },
    ],
  },
];

export interface ExploredPoint {
  scenario: string;
  plan: Plan;
  violations: readonly Violation[];
}

/**
 * Every write of every scenario, or every so many-th, with each of the ordeal's faults at it: yields one point after the
 * other.
 */
export async function* explore(
  ordeal: ExploredFault,
  chosen: readonly Scenario[] = scenarios,
  every = 1,
): AsyncGenerator<ExploredPoint> {
  for (const [index, { name, plan }] of chosen.entries()) {
    const calm: Plan = { ...plan, managers: ordeal.managers };
    const { violations, writes } = await runPlan(calm);
    yield { scenario: name, plan: calm, violations };
    // Each scenario begins with another, so that all kinds of writes have their turn.
    for (let write = 1 + (index % every); write <= writes; write += every)
      for (const fault of ordeal.faults) {
        const disturbed: Plan = { ...calm, atWrite: { write, fault } };
        yield {
          scenario: `${name}, ${fault.kind} ${'when' in fault ? fault.when : ''} write ${write}`,
          plan: disturbed,
          violations: (await runPlan(disturbed)).violations,
        };
      }
  }
}
