export { configMaps, createFakeApi, type FakeApi } from './fake-api.ts';
export {
  createTestClient,
  testEnv,
  testPods,
} from './support.ts';
