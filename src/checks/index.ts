export { parseAddress } from './address.ts';
export { type CheckRunnerOptions, createCheckRunner } from './runner.ts';
export type { CheckResult, CheckRunner, CheckSubject } from './types.ts';
