export { configMaps, createFakeApi, type FakeApi } from './fake-api.ts';
export {
  type HostileServer,
  type HostileServerOptions,
  type Request,
  type Response,
  startServer,
} from './hostile-server.ts';
export {
  createTestClient,
  onBody,
  sendJson,
  startJson,
  testEnv,
  testPods,
  writeText,
} from './support.ts';
