export { JournalError, type JournalErrorCode } from '../journal/index.ts';
export { type DecisionBookOptions, openDecisionBook } from './book.ts';
export { actsAt, deadlineShare } from './deadline.ts';
export { DecisionError, type DecisionErrorCode, notKept } from './errors.ts';
export { nextStep } from './next-step.ts';
export { type ParseChoiceOptions, type ParsedChoice, parseChoice } from './parse-choice.ts';
export { parseTimeZone } from './time-zone.ts';
export type { Deadline, DecisionBook, DecisionInput, Step, StepFacts, WaitReason } from './types.ts';
