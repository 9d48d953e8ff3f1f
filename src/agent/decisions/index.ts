export { StorageError, type StorageErrorCode } from '../storage/index.ts';
export { actsAt } from './deadline.ts';
export { createSteps, isOvertaken, nextStep, type Steps } from './next-step.ts';
export { InvalidDecision, parseDecision } from './parse-decision.ts';
export { DecisionError, openDecisionStore, saveFailureOf } from './store.ts';
export type { Deadline, DecisionStore, Step } from './types.ts';
