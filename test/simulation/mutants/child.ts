// Runs plans with a mutant, one after the other, and reports each violation that may kill it to its parent, which replies
// whether to continue.

import { once } from 'node:events';
import { runPlan } from '../run-plan.ts';
import { candidatePlans, killOf, writesIn } from './hunt.ts';
import { mutants } from './index.ts';
import type { Finding, Verdict } from './messages.ts';

const mutant = mutants.find(({ name }) => name === process.env.EDGESET_MUTANT);
if (!mutant) throw new Error('EDGESET_MUTANT names no mutant');

const send = (message: Finding | Verdict): Promise<void> =>
  new Promise((resolve) => process.send?.(message, undefined, undefined, () => resolve()));

let plans = 0;
const otherViolations = new Set<string>();
for await (const { label, plan } of candidatePlans(mutant.hunt ?? { by: 'seeds' }, writesIn)) {
  plans += 1;
  const outcome = await runPlan(plan);
  const kill = killOf(outcome, mutant.breaks);
  for (const { invariant } of outcome.violations)
    if (!mutant.breaks.includes(invariant)) otherViolations.add(invariant);
  if (!kill) continue;
  const answered = once(process, 'message');
  await send({ kind: 'finding', label, plan, invariant: kill.invariant, text: kill.text, plans });
  const [answer] = (await answered) as ['on' | 'stop'];
  if (answer === 'stop') process.exit(0);
}
await send({ kind: 'survived', plans, otherViolations: [...otherViolations] });
process.exit(0);
