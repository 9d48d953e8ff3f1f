export type { Connection } from '../transport/connection.ts';
export { type HttpRequest, type HttpResponse, RoundTripError } from '../transport/round-trip.ts';
export { configMaps } from './fake-api.ts';
export {
  createTestClient,
  serve,
  testAuthority,
  testEnv,
  testIdentity,
  testPods,
  trusting,
} from './support.ts';
