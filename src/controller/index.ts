export { type Air, createAir } from './air.ts';
export { type Controller, type ControllerOptions, createController, type RolloutSnapshot } from './controller.ts';
export {
  type DaemonSetObject,
  type DaemonSetView,
  factsAlone,
  type Kind,
  type PodProjection,
  type RecordedRevision,
} from './kind.ts';
export { learnPod } from './learn-pod.ts';
export type { Acts, CarryOut, Means, Pass, ServedKind, Surroundings, Target, Touched } from './means.ts';
export type { ControllerObserver } from './observer.ts';
export { createPacing, turnAfter } from './pacing.ts';
export { FENCE_ANNOTATION, type Outcome, type PodActs, type PodVersion } from './pod-acts.ts';
export { type ReadOptions, type RolloutReading, readRollout } from './read-rollout.ts';
export { daemonRollouts } from './resources.ts';
export { newestRevision, type RevisionView, readRevisions } from './revision-view.ts';
export { FIELD_MANAGER } from './rollout-object.ts';
export type { Teller } from './tell.ts';
