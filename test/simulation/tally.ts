import { MOST } from './checker/report.ts';

/** Sums of many runs. */
export interface Tally {
  plans: number;
  rollouts: number;
  acts: number;
  virtualHours: number;
  /** Of processors, all threads together. */
  cpuSeconds: number;
  /** The same of those plans alone that have five nodes: what the speed is told by. */
  ofFive: { rollouts: number; cpuSeconds: number };
  /** Deeds and faults that met something, by kind. */
  fired: Record<string, number>;
  /** How often each invariant was held against something. */
  checked: Record<string, number>;
  /** What was measured: sums, or the most that was met. */
  figures: Record<string, number>;
  failures: { seed: number; rule: string; text: string }[];
}

export const newTally = (): Tally => ({
  plans: 0,
  rollouts: 0,
  acts: 0,
  virtualHours: 0,
  cpuSeconds: 0,
  ofFive: { rollouts: 0, cpuSeconds: 0 },
  fired: {},
  checked: {},
  figures: {},
  failures: [],
});

const addTo = (sums: Record<string, number>, others: Readonly<Record<string, number>>): void => {
  for (const [key, value] of Object.entries(others)) sums[key] = (sums[key] ?? 0) + value;
};

export const addFigures = (sums: Record<string, number>, others: Iterable<readonly [string, number]>): void => {
  for (const [name, value] of others)
    sums[name] = name.startsWith(MOST) ? Math.max(sums[name] ?? 0, value) : (sums[name] ?? 0) + value;
};

export const add = (sum: Tally, other: Tally): void => {
  sum.plans += other.plans;
  sum.rollouts += other.rollouts;
  sum.acts += other.acts;
  sum.virtualHours += other.virtualHours;
  sum.cpuSeconds += other.cpuSeconds;
  sum.ofFive.rollouts += other.ofFive.rollouts;
  sum.ofFive.cpuSeconds += other.ofFive.cpuSeconds;
  addTo(sum.fired, other.fired);
  addTo(sum.checked, other.checked);
  addFigures(sum.figures, Object.entries(other.figures));
  sum.failures.push(...other.failures);
};
