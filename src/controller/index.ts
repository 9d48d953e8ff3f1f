export { type Controller, createController } from './controller.ts';
export type { ControllerOptions, RolloutSnapshot } from './controller-options.ts';
export { daemonRollouts, decidedOnAgain, saysManaged } from './daemon-rollout.ts';
export { RESERVE_INTERVAL_MS } from './decision-executor.ts';
export { createInFlightWrites, type InFlightWrites, type WriteResult } from './in-flight-writes.ts';
export {
  controllingDaemonSet,
  type DaemonSetObject,
  type DaemonSetView,
  type Kind,
  ORPHAN_FINALIZER,
  ownedPodFacts,
  type PodProjection,
  type RecordedRevision,
  type RevisionView,
  selectorTooLong,
} from './kind.ts';
export type {
  ControllerMetrics,
  InformerOptions,
  KindAdapter,
  KindEventHandlers,
  ManagedKind,
  ManageInput,
  PodWrites,
  ReconcilerContext,
  Target,
  WritePod,
} from './kind-adapter.ts';
export { createOrder, type Order, type OrderedDaemonSet } from './order.ts';
export type { Delivery, Notifier } from './outbox.ts';
export { clusterRolloutPlans, readPlan, rolloutApprovals, rolloutPlans } from './plans.ts';
export { outcomeOfError, type PodControl, type PodVersion, type WriteOutcome } from './pod-control.ts';
export { updateKnownPod } from './pod-writer.ts';
export { type ReadOptions, readRollout } from './read-rollout.ts';
export { newestRevision, readRevisions } from './revisions.ts';
export { type RolloutReading, reportedStall } from './rollout-display.ts';
export type { RolloutEvents } from './rollout-events.ts';
export { createStatusPace, type Progress, progressOf } from './status-pace.ts';
export { type RolloutWatch, type WatchRolloutOptions, watchNodes, watchRollout } from './watch-rollout.ts';
