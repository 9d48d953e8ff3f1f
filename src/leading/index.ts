export { type Clients, createClients } from './clients.ts';
export { createClockCheck } from './clock-check.ts';
export { waitForApis } from './discovery.ts';
export { type GatedController, gateOnDiscovery } from './discovery-gate.ts';
export { createElection, electByLease } from './election.ts';
export { newIdentity, podNamespace } from './identity.ts';
export {
  DEFAULT_NAMESPACE,
  type LeaderElectionFlags,
  type LeaderElectionOptions,
  resolveLeaderElection,
} from './options.ts';
export { runControllers } from './run-controllers.ts';
export type { Controller, RequiredApi } from './types.ts';
