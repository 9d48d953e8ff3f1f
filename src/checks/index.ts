export { type AddressRules, parseAddress, shownAddress } from './address.ts';
export { type CheckNeed, checkNeeds, planErrors } from './judge.ts';
export { createNeedReview } from './need-review.ts';
export { createCheckRunner } from './runner.ts';
export { type CheckResult, type CheckRunner, sayProblem } from './types.ts';
