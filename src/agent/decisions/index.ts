export type { Deadline, DecisionBook, DecisionInput, Step, StepFacts, WaitReason } from './types.ts';
