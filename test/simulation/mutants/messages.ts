import type { Plan } from '../plan/plan.ts';

/** Of a child: a violation with the mutant in the code. The parent answers `stop` when the code without it has none. */
export interface Finding {
  kind: 'finding';
  label: string;
  plan: Plan;
  invariant: string;
  text: string;
  /** Played so far. */
  plans: number;
}

/** Of a child: nothing that was played killed the mutant. */
export interface Verdict {
  kind: 'survived';
  plans: number;
  /** Rules that were broken, though not one that the mutant is to die by. */
  beside: readonly string[];
}
