import type { Pod } from 'kubernetes-types/core/v1.d.ts';

/** Metadata of a patch that was decided on what the pod is now: refused for another pod, and for a changed one. */
export const precondition = ({ metadata }: Pod) => ({ uid: metadata?.uid, resourceVersion: metadata?.resourceVersion });

/** Who needed longer from one write to the next was asleep: others may have been at work on the same meanwhile. */
export const SUSPENDED_MS = 10_000;

/** Tells whether a run of writes has stood still for so long. `now`: epoch ms. */
export const createSuspensionCheck = (now: () => number) => {
  let lastAt = now();
  let stood = false;
  return {
    /** A write begins or has ended. Returns whether the run has stood still until here, once or now. */
    step(): boolean {
      stood ||= now() - lastAt > SUSPENDED_MS;
      lastAt = now();
      return stood;
    },
  };
};
export type SuspensionCheck = ReturnType<typeof createSuspensionCheck>;
