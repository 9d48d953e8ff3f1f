export { type Controller, type ControllerOptions, createController, type RolloutSnapshot } from './controller.ts';
export { daemonRollouts, FIELD_MANAGER } from './daemon-rollout.ts';
export { createInFlightWrites, type InFlightWrites, type WriteResult } from './in-flight-writes.ts';
export {
  type DaemonSetObject,
  type DaemonSetView,
  type Kind,
  ownedPodFacts,
  type PodProjection,
  type RecordedRevision,
} from './kind.ts';
export type {
  ControllerMetrics,
  KindAdapter,
  KindEventHandlers,
  ManagedKind,
  ManageInput,
  PodWrites,
  ReconcilerContext,
  Target,
  WritePod,
} from './kind-adapter.ts';
export { outcomeOfError, type PodControl, type PodVersion, type WriteOutcome } from './pod-control.ts';
export { updateKnownPod } from './pod-writer.ts';
export { type ReadOptions, type RolloutReading, readRollout } from './read-rollout.ts';
export { newestRevision, type RevisionView, readRevisions } from './revisions.ts';
export type { RolloutEvents } from './rollout-events.ts';
