export { type AddressRules, parseAddress, shownAddress } from './address.ts';
export { planErrors, type SecretUse, secretUses } from './judge.ts';
export { type CheckRunnerOptions, createCheckRunner } from './runner.ts';
export { createSecretReview, type SecretReview } from './secret-review.ts';
export { type CheckResult, type CheckRunner, type CheckSubject, sayProblem } from './types.ts';
