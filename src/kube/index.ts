export { type BackoffOptions, backoffMs } from './backoff.ts';
export { createClient } from './client.ts';
export type { ClientOptions, RequestReport } from './client-options.ts';
export {
  type Auth,
  type ClusterConfig,
  ConfigError,
  type ExecPlugin,
  type Impersonation,
  type Source,
} from './cluster-config.ts';
export { createDeadlines, type Deadlines } from './deadlines.ts';
export { type Happened, ifFound, isKubeError, KubeError, type KubeErrorCode, type RefusalDetails } from './errors.ts';
export type { EventInput } from './event-series.ts';
export { createEventRecorder, type EventRecorder, type EventRecorderOptions, events } from './events.ts';
export { type LeaderElectionOptions, leases, runLeaderElection } from './leader-election.ts';
export { type LoadOptions, loadClusterConfig } from './load-cluster-config.ts';
export { toMicroTime } from './micro-time.ts';
export { pagesOf } from './pages.ts';
export { createReflector, type Reflector, type ReflectorOptions } from './reflector.ts';
export { defineResource, keyOf, splitKey } from './resource.ts';
export { compareVersions } from './resource-version.ts';
export { createStore, type Indexers, type MutableStore } from './store.ts';
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
} from './types.ts';
export { createWorkQueue, type WorkQueue, type WorkQueueMetrics, type WorkQueueOptions } from './work-queue.ts';
