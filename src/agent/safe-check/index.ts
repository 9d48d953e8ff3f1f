export type { SafeAnswer } from './answer.ts';
export { createSafeCheck, type SafeCheck, type SafeCheckOptions } from './safe-check.ts';
