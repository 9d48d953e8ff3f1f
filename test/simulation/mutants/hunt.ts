import { generatePlan } from '../plan/generate-plan.ts';
import { faultKinds, type Plan } from '../plan/plan.ts';
import { type Outcome, runPlan } from '../run-plan.ts';
import type { Hunt } from './mutant.ts';

/** A plan, and how it is called. */
export interface CandidatePlan {
  label: string;
  plan: Plan;
}

/** Plans by seed that are played before a mutant is taken for a survivor. */
const MOST_SEEDS = 150;

/** What is to be played for a mutant, one after the other. `writes`: how many writes managers made in a plan. */
export async function* candidatePlans(
  hunt: Hunt,
  writes: (plan: Plan) => Promise<number>,
): AsyncGenerator<CandidatePlan> {
  switch (hunt.by) {
    case 'seeds': {
      const { faults = faultKinds, most = MOST_SEEDS } = hunt;
      for (let seed = 1; seed <= most; seed += 1) yield { label: `seed ${seed}`, plan: generatePlan(seed, faults) };
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
export const killOf = ({ violations }: Outcome, breaks: readonly string[]): Outcome['violations'][number] | undefined =>
  violations.find(({ invariant }) => breaks.includes(invariant));

export const writesIn = async (plan: Plan): Promise<number> => (await runPlan(plan)).writes;
