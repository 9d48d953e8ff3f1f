import type { Change } from '../../embedded/index.ts';
import type { Clock } from '../../src/runtime/index.ts';
import type { PlannedStep } from './plan/plan.ts';

/** Tracks which steps of a plan took effect: a fault that never fires tests nothing. */
export const createFaultTracker = (time: Clock) => {
  const firedSteps = new Set<PlannedStep>();
  const counts = new Map<string, number>();
  let attempts: (() => boolean)[] = [];
  let conditions: ((change: Change) => boolean)[] = [];
  let retrying = false;

  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  return {
    /** By kind of fault, and by operation. */
    counts: counts as ReadonlyMap<string, number>,
    count,
    hasFired: (step: PlannedStep): boolean => firedSteps.has(step),
    fire: (step: PlannedStep): void => {
      if (firedSteps.has(step)) return;
      firedSteps.add(step);
      count(step.operation.do);
      if (step.fault) count(step.fault);
    },
    /** Runs `attempt` now, and again after each commit until it succeeds. */
    whenPossible(attempt: () => boolean): void {
      if (!attempt()) attempts.push(attempt);
    },
    /** Calls `condition` with each commit until it holds. */
    until(condition: (change: Change) => boolean): void {
      conditions.push(condition);
    },
    onCommit(change: Change): void {
      if (conditions.length > 0) conditions = conditions.filter((condition) => !condition(change));
      if (attempts.length === 0 || retrying) return;
      // Not within the commit: an attempt may commit something itself.
      retrying = true;
      time.timer(0, () => {
        retrying = false;
        attempts = attempts.filter((attempt) => !attempt());
      });
    },
  };
};
export type FaultTracker = ReturnType<typeof createFaultTracker>;
