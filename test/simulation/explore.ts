import type { CallFault } from './call.ts';
import type { Breach } from './checker/report.ts';
import type { Plan } from './plan.ts';
import { play } from './play.ts';
import { type Scenario, scenarios } from './scenarios.ts';

/** What is done to a process at each of its writes. */
export interface Ordeal {
  name: string;
  /** Processes of the plan. */
  managers: number;
  faults: readonly CallFault[];
}

/** Long enough for another to lead, so that two do at once when it goes on. */
const ASLEEP_MS = 25_000;

export const ordeals: readonly Ordeal[] = [
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

export interface Point {
  scenario: string;
  plan: Plan;
  breaches: readonly Breach[];
}

/**
 * Every write of every scenario, or every so many-th, with each of the ordeal's faults at it: yields one point after the
 * other.
 */
export async function* explore(
  ordeal: Ordeal,
  chosen: readonly Scenario[] = scenarios,
  every = 1,
): AsyncGenerator<Point> {
  for (const [index, { name, plan }] of chosen.entries()) {
    const calm: Plan = { ...plan, managers: ordeal.managers };
    const { breaches, writes } = await play(calm);
    yield { scenario: name, plan: calm, breaches };
    // Each scenario begins with another, so that all kinds of writes have their turn.
    for (let write = 1 + (index % every); write <= writes; write += every)
      for (const fault of ordeal.faults) {
        const disturbed: Plan = { ...calm, atWrite: { write, fault } };
        yield {
          scenario: `${name}, ${fault.kind} ${'when' in fault ? fault.when : ''} write ${write}`,
          plan: disturbed,
          breaches: (await play(disturbed)).breaches,
        };
      }
  }
}
