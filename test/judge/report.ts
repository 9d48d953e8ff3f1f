import type { Finding, InvariantId } from '../invariants/index.ts';

/** One violation of an invariant. */
export interface Violation {
  invariant: string;
  at: number;
  text: string;
  /** What the process that it is about had received then, and who is rather at fault. */
  testimony?: readonly string[];
}

/** The name of a figure that is a maximum and not a sum begins with this. */
const MAXIMUM = 'most: ';

/** Adds sums up and keeps the largest maximum. */
export const mergeFigures = (figures: Iterable<Iterable<readonly [string, number]>>): Map<string, number> => {
  const merged = new Map<string, number>();
  for (const each of figures)
    for (const [name, value] of each) {
      const before = merged.get(name) ?? 0;
      merged.set(name, name.startsWith(MAXIMUM) ? Math.max(before, value) : before + value);
    }
  return merged;
};

export interface ReportOptions {
  /** Names the DaemonSet where there are several. */
  title?: string | undefined;
  /** Asked about each violation. */
  witness?: (invariant: string, text: string) => readonly string[];
}

/** Collects violations, and counts how often each invariant was checked. */
export const createReport = (now: () => number, { title, witness }: ReportOptions = {}) => {
  const violations: Violation[] = [];
  const checked = new Map<string, number>();
  const figures = new Map<string, number>();
  const violation = (invariant: InvariantId, text: string): void =>
    void violations.push({
      invariant,
      at: now(),
      text: title === undefined ? text : `${title}: ${text}`,
      ...(witness && { testimony: witness(invariant, text) }),
    });
  return {
    violations: violations as readonly Violation[],
    checked: checked as ReadonlyMap<string, number>,
    figures: figures as ReadonlyMap<string, number>,
    violation,
    /** Reports what a rule found, if anything; `what` names the subject and the verb. */
    finding(found: Finding | undefined, what: string): void {
      if (found) violation(found.invariant, `${what}, ${found.why}`);
    },
    check: (invariant: InvariantId): void => void checked.set(invariant, (checked.get(invariant) ?? 0) + 1),
    figure: (name: string, value: number, as: 'sum' | 'most' = 'sum'): void => {
      const key = as === 'most' ? `${MAXIMUM}${name}` : name;
      const before = figures.get(key) ?? 0;
      figures.set(key, as === 'most' ? Math.max(before, value) : before + value);
    },
  };
};
export type Report = ReturnType<typeof createReport>;
