import { makePlan } from '../make-plan.ts';
import { faultKinds, type Plan } from '../plan.ts';
import { type Outcome, play } from '../play.ts';
import type { Hunt } from './mutant.ts';

/** A plan, and how it is called. */
export interface Quarry {
  label: string;
  plan: Plan;
}

/** Plans by seed that are played before a mutant is taken for a survivor. */
const MOST_SEEDS = 150;

/** What is to be played for a mutant, one after the other. `writes`: how many writes managers made in a plan. */
export async function* quarries(hunt: Hunt, writes: (plan: Plan) => Promise<number>): AsyncGenerator<Quarry> {
  switch (hunt.by) {
    case 'seeds': {
      const { faults = faultKinds, most = MOST_SEEDS } = hunt;
      for (let seed = 1; seed <= most; seed += 1) yield { label: `seed ${seed}`, plan: makePlan(seed, faults) };
      return;
    }
    case 'plan':
      yield { label: 'its own plan', plan: hunt.plan };
      return;
    case 'points': {
      const last = await writes(hunt.plan);
      for (let write = 1; write <= last; write += 1)
        for (const fault of hunt.faults)
          yield {
            label: `its own plan, ${fault.kind} ${'when' in fault ? `${fault.when} ` : ''}write ${write}`,
            plan: { ...hunt.plan, atWrite: { write, fault } },
          };
      return;
    }
    case 'test':
    case 'hand':
      return;
  }
}

/** Why the mutant dies of this; undefined: it does not. */
export const killOf = ({ breaches }: Outcome, breaks: readonly string[]): Outcome['breaches'][number] | undefined =>
  breaches.find(({ rule }) => breaks.includes(rule));

export const writesIn = async (plan: Plan): Promise<number> => (await play(plan)).writes;
