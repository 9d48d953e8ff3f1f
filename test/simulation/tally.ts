/** Sums of many runs. */
export interface Tally {
  plans: number;
  rollouts: number;
  acts: number;
  virtualHours: number;
  /** Deeds and faults that met something, by kind. */
  fired: Record<string, number>;
  /** How often each invariant was held against something. */
  checked: Record<string, number>;
  failures: { seed: number; rule: string; text: string }[];
}

export const newTally = (): Tally => ({
  plans: 0,
  rollouts: 0,
  acts: 0,
  virtualHours: 0,
  fired: {},
  checked: {},
  failures: [],
});

const addTo = (sums: Record<string, number>, others: Readonly<Record<string, number>>): void => {
  for (const [key, value] of Object.entries(others)) sums[key] = (sums[key] ?? 0) + value;
};

export const add = (sum: Tally, other: Tally): void => {
  sum.plans += other.plans;
  sum.rollouts += other.rollouts;
  sum.acts += other.acts;
  sum.virtualHours += other.virtualHours;
  addTo(sum.fired, other.fired);
  addTo(sum.checked, other.checked);
  sum.failures.push(...other.failures);
};
