export { createTestApi } from './api.ts';
export { createTestLedger, createTestRecorder, podFacts } from './fixtures.ts';
export { scenario } from './scenario.ts';
