export { createSafeCheck, type SafeCheck } from './safe-check.ts';
