import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { gateCondition, hasGate, isPreparing, MAX_CLOCK_SKEW_MS, toTimestamp } from '../../../rollout/index.ts';
import { gate, LIFECYCLE_STATE, ownKey, PREPARING } from '../../../words/index.ts';
import type { PreDelete } from '../api/types.ts';
import { gatePatch } from '../podcontrol/readiness-gates.ts';
import { precondition } from '../podcontrol/write-guards.ts';

/** OpenKruise's annotation. */
export const LIFECYCLE_TIMESTAMP = 'lifecycle.apps.kruise.io/timestamp';
const NORMAL = 'Normal';

/** On a DaemonSet with a preDelete hook: holds its deletion until the hook has released its pods. */
export const HOOK_FINALIZER = ownKey.preDeleteFinalizer;

/** The next step of the deletion of a pod. */
export type DeleteStep =
  /** Nothing holds the pod, or the timeout has passed (`overdue`). */
  | { kind: 'delete'; overdue: boolean }
  /** Strategic merge patch of `pods/status` that removes the pod from its Services. */
  | { kind: 'status'; body: object }
  /** Strategic merge patch of the pod that tells the hook's controller to start. */
  | { kind: 'pod'; body: object }
  /** The hook's controller holds the pod until it releases it or the timeout passes, epoch ms; Infinity for never. */
  | { kind: 'wait'; holders: readonly string[]; until: number };

export interface PreDeleteInput {
  pod: Pod;
  /** `spec.lifecycle.preDelete`. */
  hook: PreDelete | undefined;
  /** How long the hook may hold the pod (annotation edgeset.io/predelete-timeout-seconds); Infinity for no limit. */
  timeoutMs: number;
  /** When this process first saw the pod prepared for deletion, epoch ms; `now` if it is not. */
  seenSince: number;
  now: number;
}

/** Labels and finalizers of the hook that hold the pod. */
export const holdersOf = (pod: Pod, hook: PreDelete | undefined): string[] => {
  const { labels = {}, finalizers = [] } = pod.metadata ?? {};
  return [
    ...Object.entries(hook?.labelsHandler ?? {}).flatMap(([key, value]) =>
      labels[key] === value ? [`label ${key}`] : [],
    ),
    ...(hook?.finalizersHandler ?? []).flatMap((name) => (finalizers.includes(name) ? [`finalizer ${name}`] : [])),
  ];
};

/** Can the hook hold a pod at all? */
export const hasHandlers = (hook: PreDelete | undefined): boolean =>
  Object.keys(hook?.labelsHandler ?? {}).length + (hook?.finalizersHandler ?? []).length > 0;

const statePatch = (pod: Pod, state: string, now: number): object => ({
  metadata: {
    ...precondition(pod),
    labels: { [LIFECYCLE_STATE]: state },
    annotations: { [LIFECYCLE_TIMESTAMP]: toTimestamp(now) },
  },
});

const isClosed = (pod: Pod): boolean => gateCondition(pod, gate.lifecycle)?.status === 'False';

/** Decides the next step of a deletion, from the current version of the pod. */
export const nextDeleteStep = ({ pod, hook, timeoutMs, seenSince, now }: PreDeleteInput): DeleteStep => {
  const holders = holdersOf(pod, hook);
  if (holders.length === 0) return { kind: 'delete', overdue: false };
  if (hook?.markPodNotReady === true && hasGate(pod.spec, gate.lifecycle) && !isClosed(pod))
    return { kind: 'status', body: gatePatch(pod, [gate.lifecycle], false, PREPARING, now) };
  if (!isPreparing(pod)) return { kind: 'pod', body: statePatch(pod, PREPARING, now) };
  // If the annotation is not valid, the timeout starts at the pod's creation rather than never.
  const since = Date.parse(pod.metadata?.annotations?.[LIFECYCLE_TIMESTAMP] ?? '');
  const began = Number.isNaN(since) ? Date.parse(pod.metadata?.creationTimestamp ?? '') || 0 : since;
  // The time is from another machine's clock. If the clocks differ, the hook gets more time rather than less.
  const until = Math.min(seenSince, began + MAX_CLOCK_SKEW_MS) + timeoutMs;
  return now >= until ? { kind: 'delete', overdue: true } : { kind: 'wait', holders, until };
};

/**
 * Cancels a prepared deletion; undefined if there is nothing to cancel. The gate opens last: until the label changes, the
 * hook's controller may still be draining the pod.
 */
export const cancelDelete = (pod: Pod, now: number): Extract<DeleteStep, { kind: 'pod' | 'status' }> | undefined => {
  if (isPreparing(pod)) return { kind: 'pod', body: statePatch(pod, NORMAL, now) };
  if (hasGate(pod.spec, gate.lifecycle) && isClosed(pod))
    return { kind: 'status', body: gatePatch(pod, [gate.lifecycle], true, NORMAL, now) };
  return undefined;
};
