import type { Deed, Happening, Plan } from './plan.ts';

/** A small history that goes well if nothing is done to it. */
export interface Scenario {
  name: string;
  plan: Plan;
}

const happening = (at: number, deed: Deed): Happening => ({ at, deed });
export const at = (seconds: number, deed: Deed): Happening => happening(seconds * 1000, deed);
export const release = (seconds: number, image: string): Happening => at(seconds, { do: 'release', image });

export type Shape = Partial<Omit<Plan, 'happenings'>>;

export const scenario = (name: string, shape: Shape, ...happenings: Happening[]): Scenario => ({
  name,
  plan: {
    seed: 1,
    nodes: 3,
    managers: 1,
    kind: 'native',
    strategy: 'recreate',
    limit: '1',
    settleSeconds: 1,
    minReadySeconds: 0,
    ...shape,
    happenings,
  },
});
