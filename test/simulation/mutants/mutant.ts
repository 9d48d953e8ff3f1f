/** One defect that is put back by changing a file: what stands at one place, and what takes its place. */
export interface Mutant {
  name: string;
  /** Whose defect it was, or which invariant it breaks. */
  story: string;
  /** The invariants that it may break; any of them kills it. */
  breaks: readonly string[];
  file: string;
  find: string;
  replace: string;
}
