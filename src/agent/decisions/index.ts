export { JournalError, type JournalErrorCode } from '../storage/index.ts';
export { actsAt, type ClockSkew, createClockSkew, deadlineShare } from './deadline.ts';
export { nextStep } from './next-step.ts';
export { type ParseChoiceOptions, type ParsedChoice, parseChoice } from './parse-choice.ts';
export {
  DecisionError,
  type DecisionErrorCode,
  type DecisionStoreOptions,
  openDecisionStore,
  saveFailureOf,
} from './store.ts';
export type { Deadline, DecisionInput, DecisionStore, Step, StepFacts, WaitReason } from './types.ts';
export { parseTimeZone } from './window.ts';
