import type { CallFault } from '../call.ts';
import type { Deed, FaultKind, Happening, Plan } from '../plan.ts';
import type { Hunt } from './mutant.ts';

type Shape = Partial<Omit<Plan, 'happenings'>>;

export const at = (seconds: number, deed: Deed): Happening => ({ at: seconds * 1000, deed });

/** Pods are there and ready at about 2 s; an act follows within 0.1 s, and its new pod works 2 s later. */
export const release = (seconds: number, image = 'app:v1'): Happening => at(seconds, { do: 'release', image });

const plan = (shape: Shape, happenings: readonly Happening[]): Plan => ({
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
});

export const recreate: Shape = { kind: 'advanced', strategy: 'recreate' };
export const inPlace: Shape = { kind: 'advanced', strategy: 'in-place' };
export const surge: Shape = { kind: 'advanced', strategy: 'surge' };

/** One history shows it. */
export const history = (shape: Shape, ...happenings: Happening[]): Hunt => ({
  by: 'plan',
  plan: plan(shape, happenings),
});

/** One history shows it, with one of the faults at one of its writes. */
export const atEachWrite = (faults: readonly CallFault[], shape: Shape, ...happenings: Happening[]): Hunt => ({
  by: 'points',
  plan: plan(shape, happenings),
  faults,
});

/** Plans by seed show it. */
export const seeds = (...faults: FaultKind[]): Hunt => ({ by: 'seeds', ...(faults.length > 0 && { faults }) });

/** A test shows it: `only` its cases of these names. */
export const test = (file: string, only?: string): Hunt => ({ by: 'test', file, ...(only !== undefined && { only }) });

/** Long enough for another to lead. */
export const asleep = (when: 'before' | 'after'): CallFault => ({ kind: 'stop', when, ms: 25_000 });

export const crashes: readonly CallFault[] = [
  { kind: 'crash', when: 'before' },
  { kind: 'crash', when: 'after' },
];
