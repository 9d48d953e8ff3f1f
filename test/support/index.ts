export { createTestAuthority } from './certificates.ts';
export { createTestClock, settle, type TestClock } from './clock.ts';
export { type EventuallyOptions, eventually, HopelessError, settledWithin, type Truthy } from './eventually.ts';
export { type ApiFault, type ApiRequest, type FakeApiServer, startFakeApiServer } from './fake-api-server.ts';
export { createGenerator, type Generator } from './generator.ts';
export {
  onBody,
  type Request,
  type Response,
  readBody,
  sendJson,
  startJson,
  startTestServer,
  type TestServer,
  type TestServerOptions,
  writeText,
} from './http-server.ts';
