import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import {
  gate,
  gateCondition,
  hasGate,
  isPreparing,
  LIFECYCLE_STATE,
  MAX_CLOCK_SKEW_MS,
  PREPARING,
  toTimestamp,
} from '../../rollout/index.ts';
import type { PreDelete } from '../api/types.ts';
import { gatePatch } from '../podcontrol/readiness-gates.ts';
import { precondition } from '../podcontrol/write-guards.ts';

/** OpenKruise's annotation. */
export const LIFECYCLE_TIMESTAMP = 'lifecycle.apps.kruise.io/timestamp';
const NORMAL = 'Normal';

/** On a DaemonSet that has a hook: its deletion waits until its pods have been through it. */
export const HOOK_FINALIZER = 'edgeset.io/pre-delete';

/** What is to be done to a pod that is to go. */
export type DeleteStep =
  /** Nothing holds it: it may be deleted now. */
  | { kind: 'delete'; overdue: boolean }
  /** Strategic merge patch of `pods/status`: takes the pod out of its services first. */
  | { kind: 'status'; body: object }
  /** Strategic merge patch of the pod: says to the user's controller that its turn has come. */
  | { kind: 'pod'; body: object }
  /** The user's controller is at work; `until` is when the wait is given up, epoch ms, Infinity for never. */
  | { kind: 'wait'; holders: readonly string[]; until: number };

export interface PreDeleteInput {
  pod: Pod;
  /** `spec.lifecycle.preDelete`; undefined without one. */
  hook: PreDelete | undefined;
  /** How long the user's controller may take, from annotation edgeset.io/predelete-timeout-seconds; Infinity without. */
  timeoutMs: number;
  /** Since when this process has seen the pod prepared for its end, epoch ms; `now` for one that is not. */
  seenSince: number;
  now: number;
}

/** Labels and finalizers of the pod that the hook waits for; empty: nothing holds it. */
export const holdersOf = (pod: Pod, hook: PreDelete | undefined): string[] => {
  const { labels = {}, finalizers = [] } = pod.metadata ?? {};
  return [
    ...Object.entries(hook?.labelsHandler ?? {}).flatMap(([key, value]) =>
      labels[key] === value ? [`label ${key}`] : [],
    ),
    ...(hook?.finalizersHandler ?? []).flatMap((name) => (finalizers.includes(name) ? [`finalizer ${name}`] : [])),
  ];
};

/** Is there anything that a pod could be held by? */
export const hasHandlers = (hook: PreDelete | undefined): boolean =>
  Object.keys(hook?.labelsHandler ?? {}).length + (hook?.finalizersHandler ?? []).length > 0;

const statePatch = (pod: Pod, state: string, now: number): object => ({
  metadata: {
    ...precondition(pod),
    labels: { [LIFECYCLE_STATE]: state },
    annotations: { [LIFECYCLE_TIMESTAMP]: toTimestamp(now) },
  },
});

const isShut = (pod: Pod): boolean => gateCondition(pod, gate.lifecycle)?.status === 'False';

/** The next step of a pod's way out; asked again after each write and each change of the pod. */
export const nextDeleteStep = ({ pod, hook, timeoutMs, seenSince, now }: PreDeleteInput): DeleteStep => {
  const holders = holdersOf(pod, hook);
  if (holders.length === 0) return { kind: 'delete', overdue: false };
  if (hook?.markPodNotReady === true && hasGate(pod.spec, gate.lifecycle) && !isShut(pod))
    return { kind: 'status', body: gatePatch(pod, [gate.lifecycle], false, PREPARING, now) };
  if (!isPreparing(pod)) return { kind: 'pod', body: statePatch(pod, PREPARING, now) };
  // Without a time that can be read, the wait is counted from the pod's creation: it ends, rather than lasts for ever.
  const since = Date.parse(pod.metadata?.annotations?.[LIFECYCLE_TIMESTAMP] ?? '');
  const began = Number.isNaN(since) ? Date.parse(pod.metadata?.creationTimestamp ?? '') || 0 : since;
  // Written by another machine's clock it may be wrong: then the user's controller gets more time rather than less.
  const until = Math.min(seenSince, began + MAX_CLOCK_SKEW_MS) + timeoutMs;
  return now >= until ? { kind: 'delete', overdue: true } : { kind: 'wait', holders, until };
};

/**
 * Takes back what `beforeDelete` did, when the reason to delete the pod is gone; undefined when there is nothing to take
 * back. The gate comes last: until the label says so, the user's controller may still be draining.
 */
export const cancelDelete = (pod: Pod, now: number): Extract<DeleteStep, { kind: 'pod' | 'status' }> | undefined => {
  if (isPreparing(pod)) return { kind: 'pod', body: statePatch(pod, NORMAL, now) };
  if (hasGate(pod.spec, gate.lifecycle) && isShut(pod))
    return { kind: 'status', body: gatePatch(pod, [gate.lifecycle], true, NORMAL, now) };
  return undefined;
};
