import type { Pod } from 'kubernetes-types/core/v1.d.ts';

/** Metadata for a patch that is valid only for this version of this pod: otherwise the API server refuses it. */
export const precondition = ({ metadata }: Pod) => ({ uid: metadata?.uid, resourceVersion: metadata?.resourceVersion });

/** A process that takes longer from one write to the next was suspended; another leader may have acted meanwhile. */
export const SUSPENDED_MS = 10_000;

export interface SuspensionCheck {
  /** Call when a write starts or ends. Returns whether the process has been suspended since the sequence started. */
  step(): boolean;
}

/** Detects that the process was suspended during a sequence of writes. `now`: epoch ms. */
export const createSuspensionCheck = (now: () => number): SuspensionCheck => {
  let lastStepAt = now();
  let suspended = false;
  return {
    step() {
      suspended ||= now() - lastStepAt > SUSPENDED_MS;
      lastStepAt = now();
      return suspended;
    },
  };
};
