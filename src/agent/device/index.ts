export type { SafeAnswer, SafeCheck } from './types.ts';
