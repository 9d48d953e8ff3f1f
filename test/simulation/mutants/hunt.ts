import { generatePlan } from '../plan/generate-plan.ts';
import { faultKinds, type Plan } from '../plan/plan.ts';
import { type Outcome, runPlan } from '../run-plan.ts';
import type { Hunt } from './mutant.ts';

/** A plan with its name. */
export interface CandidatePlan {
  label: string;
  plan: Plan;
}

/** After this many plans from seeds a mutant survives. */
const MOST_SEEDS = 150;

/** The plans to run for a mutant. `writes`: how many writes managers make in a plan. */
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
      yield { label: 'own plan', plan: hunt.plan };
      return;
    case 'points': {
      const last = await writes(hunt.plan);
      for (let write = 1; write <= last; write += 1)
        for (const fault of hunt.faults)
          yield {
            label: `own plan, ${fault.kind} ${'when' in fault ? `${fault.when} ` : ''}write ${write}`,
            plan: { ...hunt.plan, atWrite: { write, fault } },
          };
      return;
    }
    case 'test':
    case 'hand':
      return;
  }
}

/** The violation that kills the mutant; undefined: none. */
export const killOf = ({ violations }: Outcome, breaks: readonly string[]): Outcome['violations'][number] | undefined =>
  violations.find(({ invariant }) => breaks.includes(invariant));

export const writesIn = async (plan: Plan): Promise<number> => (await runPlan(plan)).writes;
