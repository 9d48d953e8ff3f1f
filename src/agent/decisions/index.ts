export { StorageError, type StorageErrorCode } from '../storage/index.ts';
export { actsAt } from './deadline.ts';
export { createSteps, isOvertaken, nextStep, type Steps } from './next-step.ts';
export { InvalidDecision, parseDecision } from './parse-decision.ts';
export {
  DecisionError,
  type DecisionErrorCode,
  type DecisionStoreOptions,
  openDecisionStore,
  saveFailureOf,
} from './store.ts';
export type { Deadline, DecisionInput, DecisionStore, Step, StepFacts } from './types.ts';
