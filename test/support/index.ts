export { createTestAuthority } from './certificates.ts';
export { createTestClock, settle, type TestClock } from './clock.ts';
export { eventually, HopelessError, settledWithin, type Truthy } from './eventually.ts';
export { type FakeApiServer, startFakeApiServer } from './fake-api-server.ts';
export { createGenerator, type Generator } from './generator.ts';
export {
  createTestServers,
  onBody,
  type Request,
  type Response,
  sendJson,
  startJson,
  startTestServer,
  type TestServer,
  type TestServerOptions,
  writeText,
} from './http-server.ts';
