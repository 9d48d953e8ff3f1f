import type { CallFault } from '../network/call.ts';
import type { FaultKind, Plan } from '../plan/plan.ts';

/** What stands at one place of a file, once, and what takes its place. */
export interface Change {
  file: string;
  find: string;
  replace: string;
}

/** What is played until the defect shows. */
export type Hunt =
  /** Plans by their seeds, with faults of these kinds; default: of all. */
  | { by: 'seeds'; faults?: readonly FaultKind[]; most?: number }
  /** One history. */
  | { by: 'plan'; plan: Plan }
  /** One history, with each of these faults at each write of the managers. */
  | { by: 'points'; plan: Plan; faults: readonly CallFault[] }
  /** A test file, run by node: what cannot be seen in a simulation. `only`: the names of its cases. */
  | { by: 'test'; file: string; only?: string }
  /** A suite that needs more than node: why, and which. Seen red by hand. */
  | { by: 'hand'; file: string; why: string };

/** One defect that is put back. */
export interface Mutant extends Change {
  name: string;
  /** Whose defect it was: a project's issue, or an invariant that some code holds. */
  whose: string;
  /** What is wrong with the code then. */
  story: string;
  /** The invariants by which it may die: another violation is no kill. Empty where a test file kills it. */
  breaks: readonly string[];
  hunt?: Hunt;
  /** Where one place is not enough. */
  also?: readonly Change[];
}

export const changesOf = ({ file, find, replace, also = [] }: Mutant): readonly Change[] => [
  { file, find, replace },
  ...also,
];
