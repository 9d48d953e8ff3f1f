export { createTestAuthority } from './certificates.ts';
export { createTestClock, settle, type TestClock } from './clock.ts';
export { type EventuallyOptions, eventually, HopelessError, settledWithin, type Truthy } from './eventually.ts';
export { createGenerator, type Generator } from './generator.ts';
