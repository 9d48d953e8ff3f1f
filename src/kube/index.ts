export { createReflector, type Reflector, type ReflectorOptions } from './cache/reflector.ts';
export { createStore, type Indexers, type MutableStore } from './cache/store.ts';
export {
  controllerRevisions,
  customResourceDefinitions,
  daemonSets,
  namespaces,
  nodes,
  pods,
  podTemplates,
  secrets,
  serviceAccounts,
} from './client/builtin-resources.ts';
export { createClient } from './client/client.ts';
export {
  type Happened,
  ifFound,
  isKubeError,
  KubeError,
  type KubeErrorCode,
  type RefusalDetails,
} from './client/errors.ts';
export { compareVersions, toMicroTime } from './client/formats.ts';
export type { ClientOptions, RequestReport } from './client/options.ts';
export { pagesOf } from './client/pages.ts';
export { defineResource, keyOf, splitKey } from './client/resource.ts';
export type {
  CallOptions,
  CreateOptions,
  DeleteOptions,
  KubeClient,
  KubeObject,
  ListOptions,
  ListResult,
  ObjectRef,
  PatchOptions,
  PatchType,
  ReflectorHandler,
  Resource,
  Store,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client/types.ts';
export {
  type Auth,
  type ClusterConfig,
  type ExecPlugin,
  type Impersonation,
  type Source,
} from './config/cluster-config.ts';
export { type LoadOptions, loadClusterConfig } from './config/load-cluster-config.ts';
export type { EventInput } from './events/event-series.ts';
export { createEventRecorder, type EventRecorder, type EventRecorderOptions, events } from './events/events.ts';
export { type LeaderElectionOptions, leases, runLeaderElection } from './leaderelection/leader-election.ts';
export { createWorkQueue, type WorkQueue, type WorkQueueMetrics, type WorkQueueOptions } from './queue/work-queue.ts';
