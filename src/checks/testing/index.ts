export { createStubClient, type StubClient, secretOf } from './client.ts';
export { subject } from './subject.ts';
