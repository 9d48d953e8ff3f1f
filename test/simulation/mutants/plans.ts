import type { CallFault } from '../network/call.ts';
import type { FaultKind, PlannedStep } from '../plan/plan.ts';
import { planOf, type Shape } from '../scenarios/scenario.ts';
import type { Hunt } from './mutant.ts';

export { at, release } from '../scenarios/scenario.ts';

export const recreate: Shape = { kind: 'advanced', strategy: 'recreate' };
export const inPlace: Shape = { kind: 'advanced', strategy: 'in-place' };
export const surge: Shape = { kind: 'advanced', strategy: 'surge' };

/** One plan shows it. */
export const history = (shape: Shape, ...steps: PlannedStep[]): Hunt => ({
  by: 'plan',
  plan: planOf(shape, steps),
});

/** One plan shows it, with one of the faults at one of its writes. */
export const atEachWrite = (faults: readonly CallFault[], shape: Shape, ...steps: PlannedStep[]): Hunt => ({
  by: 'points',
  plan: planOf(shape, steps),
  faults,
});

/** Plans from seeds show it. */
export const seeds = (...faults: FaultKind[]): Hunt => ({ by: 'seeds', ...(faults.length > 0 && { faults }) });

/** A test shows it: `only` its cases of these names. */
export const test = (file: string, only?: string): Hunt => ({ by: 'test', file, ...(only !== undefined && { only }) });

/** Long enough for another manager to lead. */
export const asleep = (when: 'before' | 'after'): CallFault => ({ kind: 'stop', when, ms: 25_000 });

export const crashes: readonly CallFault[] = [
  { kind: 'crash', when: 'before' },
  { kind: 'crash', when: 'after' },
];
