import type { Operation, Plan, PlannedStep } from '../plan/plan.ts';

/** A small plan that succeeds without further faults. */
export interface Scenario {
  name: string;
  plan: Plan;
}

export const at = (seconds: number, operation: Operation): PlannedStep => ({ at: seconds * 1000, operation });
/** Pods are ready at about 2 s; an update begins within 0.1 s, and its new pod is available 2 s later. */
export const release = (seconds: number, image = 'app:v1'): PlannedStep => at(seconds, { do: 'release', image });

export type Shape = Partial<Omit<Plan, 'steps'>>;

/** A plan of this shape, small by default. */
export const planOf = (shape: Shape, steps: readonly PlannedStep[]): Plan => ({
  seed: 1,
  nodes: 3,
  managers: 1,
  kind: 'native',
  strategy: 'recreate',
  limit: '1',
  settleSeconds: 1,
  minReadySeconds: 0,
  ...shape,
  steps,
});

export const scenario = (name: string, shape: Shape, ...steps: PlannedStep[]): Scenario => ({
  name,
  plan: planOf(shape, steps),
});
