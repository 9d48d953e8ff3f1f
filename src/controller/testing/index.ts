export { type Call, createTestApi, type TestApi } from './api.ts';
export { createTestLedger, createTestRecorder, podFacts, reserve, testKind, testRef } from './fixtures.ts';
