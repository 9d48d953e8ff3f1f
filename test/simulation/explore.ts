import type { Violation } from '../judge/report.ts';
import type { CallFault } from './network/call.ts';
import type { Plan } from './plan/plan.ts';
import { runPlan } from './run-plan.ts';
import { type Scenario, scenarios } from './scenarios/index.ts';

/** Faults that are injected at each write of a scenario. */
export interface ExploredFault {
  name: string;
  /** Managers of the plan. */
  managers: number;
  faults: readonly CallFault[];
}

/** Long enough for another manager to lead, so that there are two leaders when this one continues. */
const STOPPED_MS = 25_000;

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
      { kind: 'stop', when: 'before', ms: STOPPED_MS },
      { kind: 'stop', when: 'after', ms: STOPPED_MS },
    ],
  },
];

export interface ExploredPoint {
  scenario: string;
  plan: Plan;
  violations: readonly Violation[];
}

/** Runs each scenario once for each of its writes (or every n-th) and each fault; yields each result. */
export async function* explore(
  explored: ExploredFault,
  chosen: readonly Scenario[] = scenarios,
  every = 1,
): AsyncGenerator<ExploredPoint> {
  for (const [index, { name, plan }] of chosen.entries()) {
    const calm: Plan = { ...plan, managers: explored.managers };
    const { violations, writes } = await runPlan(calm);
    yield { scenario: name, plan: calm, violations };
    // Each scenario begins with a different write, so that every kind of write is covered.
    for (let write = 1 + (index % every); write <= writes; write += every)
      for (const fault of explored.faults) {
        const disturbed: Plan = { ...calm, atWrite: { write, fault } };
        yield {
          scenario: `${name}, ${fault.kind} ${'when' in fault ? fault.when : ''} write ${write}`,
          plan: disturbed,
          violations: (await runPlan(disturbed)).violations,
        };
      }
  }
}
