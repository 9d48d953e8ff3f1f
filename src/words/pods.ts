// What pods carry: conditions, readiness gates, the lifecycle label, and the state of an in-place update.

/**
 * Condition `PodNeedUpgrade` of a pod: whether its owner is offered another revision. Only the manager writes it; agents
 * and OpenYurt's tools read it. Its message names the target revision.
 */
export const NEED_UPGRADE = 'PodNeedUpgrade';

/**
 * `True`: `NewRevision`, or `Halted` when the fleet's breaker has stopped the revision, which agents then refuse. `False`:
 * the pod runs the target (`UpToDate`), or the policy keeps it on its revision for the given reason.
 */
export type NeedUpgradeReason =
  | 'NewRevision'
  | 'Halted'
  | 'UpToDate'
  | 'Paused'
  | 'Partition'
  | 'NodeSelector'
  | 'Staged'
  | 'NodeNotEligible';

/**
 * Condition of a pod: its owner approved the revision that the message names. The agent writes it where it may not delete
 * the pod itself, and the manager acts on it.
 */
export const UPGRADE_APPROVED = 'UpgradeApproved';

/**
 * Condition `PodImageReady` of a pod: whether the images of the target revision are on its node. The agent and the
 * manager request them by it, the manager answers, and everyone who updates a pod reads it. Name and texts are OpenYurt's: the message begins
 * with the revision that it is about.
 */
export const IMAGE_READY = 'PodImageReady';

export type ImageReadyReason = 'PullingImage' | 'PullImageSuccess' | 'PullImageFail';

/** OpenKruise's readiness gates. A pod that has one is Ready only while the condition of that name is True. */
export const gate = {
  /** On pods that may be updated in place: closed while containers are replaced. */
  inPlace: 'InPlaceUpdateReady',
  /** On pods that a hook takes out of service before they are deleted. */
  lifecycle: 'KruisePodReady',
} as const;
export type Gate = (typeof gate)[keyof typeof gate];

/** OpenKruise's label for the lifecycle state of a pod in which a user's controller takes part. */
export const LIFECYCLE_STATE = 'lifecycle.apps.kruise.io/state';
export const PREPARING = 'PreparingDelete';

/** OpenKruise's annotation; OpenKruise stores a subset of our fields in it. */
export const IN_PLACE_STATE = 'apps.kruise.io/inplace-update-state';
