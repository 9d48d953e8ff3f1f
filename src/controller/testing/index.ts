export { type Call, createTestApi, type TestApi } from './api.ts';
export { testKind, testRef } from './kind.ts';
export { createTestLedger, podFacts, reserve } from './ledger.ts';
export { createTestRecorder } from './recorder.ts';
