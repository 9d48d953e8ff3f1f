export type { Delivery, Notifier } from './events/outbox.ts';
export type { RolloutEvents } from './events/rollout-events.ts';
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
  KindEventHandlers,
  ManagedKind,
  ManageInput,
  PodWrites,
  ReconcilerContext,
  Target,
  WritePod,
} from './kind-adapter.ts';
export { createController } from './loop/controller.ts';
export type { Controller, ControllerOptions } from './loop/controller-options.ts';
export { createOrder, type Order, type OrderedDaemonSet } from './loop/order.ts';
export type { PodControl, PodVersion, WriteOutcome } from './pod-writes.ts';
export { newestRevision, readRevisions, toRecorded } from './revisions.ts';
export { daemonRollouts, decidedOnAgain, saysManaged } from './status/daemon-rollout.ts';
export { createStatusPace, isMoving } from './status/status-pace.ts';
export {
  clusterRolloutPlans,
  createPlans,
  readPlan,
  readPlans,
  rolloutApprovals,
  rolloutPlans,
} from './watches/plans.ts';
export { createRolloutModel, watchPods } from './watches/rollout-model.ts';
export { RESERVE_INTERVAL_MS } from './writes/decision-executor.ts';
export { createInFlightWrites, type WriteResult } from './writes/in-flight-writes.ts';
export { outcomeOfError } from './writes/pod-control.ts';
