export { type Air, createAir } from './air.ts';
export { type Controller, type ControllerOptions, createController, type RolloutSnapshot } from './controller.ts';
export { createInFlightWrites, type InFlightWrites, type WriteResult } from './in-flight-writes.ts';
export { createKeyedBackoff, nextAllowedAt } from './keyed-backoff.ts';
export {
  type DaemonSetObject,
  type DaemonSetView,
  type Kind,
  ownedPodFacts,
  type PodProjection,
  type RecordedRevision,
} from './kind.ts';
export type {
  KindAdapter,
  KindEventHandlers,
  ManagedKind,
  ManageInput,
  PodWrites,
  ReconcilerContext,
  Target,
  WritePod,
} from './kind-adapter.ts';
export { updateKnownPod } from './learn-pod.ts';
export type { ControllerMetrics } from './observer.ts';
export { createPacing, turnAfter } from './pacing.ts';
export { FENCE_ANNOTATION, type PodControl, type PodVersion, type WriteOutcome } from './pod-control.ts';
export { type ReadOptions, type RolloutReading, readRollout } from './read-rollout.ts';
export { daemonRollouts } from './resources.ts';
export { newestRevision, type RevisionView, readRevisions } from './revisions.ts';
export type { RolloutEvents } from './rollout-events.ts';
export { FIELD_MANAGER } from './rollout-object.ts';
