import type { CallFault } from '../network/call.ts';
import type { FaultKind, Plan } from '../plan/plan.ts';

/** A text that occurs once in a file, and its replacement. */
export interface Change {
  file: string;
  find: string;
  replace: string;
}

/** What is run until the defect shows. */
export type Hunt =
  /** Plans from seeds, with faults of these kinds; default: all. */
  | { by: 'seeds'; faults?: readonly FaultKind[]; most?: number }
  /** One plan. */
  | { by: 'plan'; plan: Plan }
  /** One plan, with each of these faults at each write of the managers. */
  | { by: 'points'; plan: Plan; faults: readonly CallFault[] }
  /** A test file, for defects that a simulation cannot show. `only`: the names of its cases. */
  | { by: 'test'; file: string; only?: string }
  /** A suite that needs more than node: why, and which one. Verified by hand. */
  | { by: 'hand'; file: string; why: string };

/** A known defect that is put back. */
export interface Mutant extends Change {
  name: string;
  /** Its origin: a project's issue, or an invariant that some code ensures. */
  whose: string;
  /** What the code does wrong. */
  story: string;
  /** The invariants whose violation kills it; other violations do not. Empty if a test kills it. */
  breaks: readonly string[];
  hunt?: Hunt;
  /** Further changes. */
  also?: readonly Change[];
}

export const changesOf = ({ file, find, replace, also = [] }: Mutant): readonly Change[] => [
  { file, find, replace },
  ...also,
];
