import { mergeFigures } from '../judge/report.ts';

/** Sums over many runs. */
export interface Totals {
  plans: number;
  rollouts: number;
  updates: number;
  virtualHours: number;
  /** CPU time of all threads. */
  cpuSeconds: number;
  /** The same for plans with five nodes only: the figure that speed is compared by. */
  ofFive: { rollouts: number; cpuSeconds: number };
  /** How often each kind of fault and operation took effect. */
  fired: Record<string, number>;
  /** How often each invariant was checked. */
  checked: Record<string, number>;
  /** Measurements: sums and maxima. */
  figures: Record<string, number>;
  failures: { seed: number; invariant: string; text: string }[];
}

export const emptyTotals = (): Totals => ({
  plans: 0,
  rollouts: 0,
  updates: 0,
  virtualHours: 0,
  cpuSeconds: 0,
  ofFive: { rollouts: 0, cpuSeconds: 0 },
  fired: {},
  checked: {},
  figures: {},
  failures: [],
});

export type Sums = Readonly<Record<string, number>> | ReadonlyMap<string, number>;

const entries = (sums: Sums): Iterable<readonly [string, number]> =>
  sums instanceof Map ? sums.entries() : Object.entries(sums);

/** Figures of two runs as one: sums are added up, of maxima the larger one stays. */
export const mergeSums = (one: Sums, other: Sums): Record<string, number> =>
  Object.fromEntries(mergeFigures([entries(one), entries(other)]));

export const addTotals = (sum: Totals, other: Totals): void => {
  sum.plans += other.plans;
  sum.rollouts += other.rollouts;
  sum.updates += other.updates;
  sum.virtualHours += other.virtualHours;
  sum.cpuSeconds += other.cpuSeconds;
  sum.ofFive.rollouts += other.ofFive.rollouts;
  sum.ofFive.cpuSeconds += other.ofFive.cpuSeconds;
  sum.fired = mergeSums(sum.fired, other.fired);
  sum.checked = mergeSums(sum.checked, other.checked);
  sum.figures = mergeSums(sum.figures, other.figures);
  sum.failures.push(...other.failures);
};
