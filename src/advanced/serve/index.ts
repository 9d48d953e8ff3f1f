export { createAdvancedKind } from './advanced-kind.ts';
