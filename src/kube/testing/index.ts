export { configMaps, createFakeApi, type FakeApi } from './fake-api.ts';
export {
  createTestClient,
  serve,
  testAuthority,
  testEnv,
  testIdentity,
  testPods,
  trusting,
} from './support.ts';
