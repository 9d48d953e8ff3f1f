import type { Pod } from 'kubernetes-types/core/v1.d.ts';

/** OpenKruise's label for where a pod stands that a user's controller takes part in. */
export const LIFECYCLE_STATE = 'lifecycle.apps.kruise.io/state';
export const PREPARING = 'PreparingDelete';

/** The pod waits for its user's controller before it is deleted, and counts as down meanwhile. */
export const isPreparing = (pod: Pod): boolean => pod.metadata?.labels?.[LIFECYCLE_STATE] === PREPARING;
