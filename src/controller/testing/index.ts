export { type Call, createTestApi, type TestApi } from './api.ts';
export { createTestLedger, createTestRecorder, podFacts } from './fixtures.ts';
export { scenario } from './scenario.ts';
