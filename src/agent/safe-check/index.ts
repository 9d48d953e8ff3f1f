export { createSafeCheck, type SafeCheckOptions } from './safe-check.ts';
export type { SafeAnswer, SafeCheck } from './types.ts';
