export { createReflector, type Reflector } from './cache/reflector.ts';
export { createStore } from './cache/store.ts';
export {
  controllerRevisions,
  customResourceDefinitions,
  daemonSets,
  namespaces,
  nodes,
  pods,
  podTemplates,
  secrets,
} from './client/builtin-resources.ts';
export { createClient } from './client/client.ts';
export { type ClockSkew, createClockSkew } from './client/clock-skew.ts';
export {
  ifFound,
  isKubeError,
  isRefusedByPolicy,
  KubeError,
  type KubeErrorCode,
  type RefusalDetails,
  serverText,
} from './client/errors.ts';
export { compareVersions, toMicroTime } from './client/formats.ts';
export type { ClientOptions, RequestReport } from './client/options.ts';
export { listAll, pagesOf } from './client/pages.ts';
export { defineResource, keyOf, metadataOf, splitKey } from './client/resource.ts';
export type {
  CacheFailure,
  CallOptions,
  DeleteOptions,
  KubeClient,
  KubeObject,
  ListOptions,
  ObjectRef,
  PatchOptions,
  ReflectorHandler,
  Resource,
  Store,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client/types.ts';
export { type ClusterConfig } from './config/cluster-config.ts';
export { kubeconfigNames, loadClusterConfig } from './config/load-cluster-config.ts';
export type { ConfigOverrides } from './config/overrides.ts';
export type { EventInput } from './events/event-series.ts';
export { createEventRecorder, type EventRecorder, events } from './events/events.ts';
export { leases, runLeaderElection } from './leaderelection/leader-election.ts';
export { createSeatQueue } from './queue/seats.ts';
export { createWorkQueue, type WorkQueue, type WorkQueueMetrics } from './queue/work-queue.ts';
