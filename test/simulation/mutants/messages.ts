import type { Plan } from '../plan/plan.ts';

/** From a child: a violation with the mutant. The parent replies `stop` if there is none without it. */
export interface Finding {
  kind: 'finding';
  label: string;
  plan: Plan;
  invariant: string;
  text: string;
  /** Run so far. */
  plans: number;
}

/** From a child: no plan killed the mutant. */
export interface Verdict {
  kind: 'survived';
  plans: number;
  /** Invariants that were violated, but do not kill the mutant. */
  otherViolations: readonly string[];
}
