export { JournalError, type JournalErrorCode } from '../storage/index.ts';
export { actsAt, deadlineShare } from './deadline.ts';
export { DecisionError, type DecisionErrorCode, saveFailureOf } from './errors.ts';
export { nextStep } from './next-step.ts';
export { type ParseChoiceOptions, type ParsedChoice, parseChoice } from './parse-choice.ts';
export { type DecisionStoreOptions, openDecisionStore } from './store.ts';
export { parseTimeZone } from './time-zone.ts';
export type { Deadline, DecisionInput, DecisionStore, Step, StepFacts, WaitReason } from './types.ts';
