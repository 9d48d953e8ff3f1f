import type { Pod } from 'kubernetes-types/core/v1.d.ts';

/** Metadata of a patch that was decided on what the pod is now: refused for another pod, and for a changed one. */
export const precondition = ({ metadata }: Pod) => ({ uid: metadata?.uid, resourceVersion: metadata?.resourceVersion });
