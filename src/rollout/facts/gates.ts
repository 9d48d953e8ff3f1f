import type { Pod, PodCondition, PodSpec } from 'kubernetes-types/core/v1.d.ts';

/** Readiness gates of OpenKruise; a pod that has one is ready only while the condition of its name is True. */
export const gate = {
  /** Added where pods may be updated in place: shut while containers are exchanged. */
  inPlace: 'InPlaceUpdateReady',
  /** Added where a hook takes pods out of service before they are deleted. */
  lifecycle: 'KruisePodReady',
} as const;
export type Gate = (typeof gate)[keyof typeof gate];

export const hasGate = (spec: PodSpec | undefined, name: Gate): boolean =>
  spec?.readinessGates?.some(({ conditionType }) => conditionType === name) ?? false;

/** The condition of a gate; undefined while nobody has opened or shut it. */
export const gateCondition = (pod: Pod, name: Gate): PodCondition | undefined =>
  pod.status?.conditions?.find(({ type }) => type === name);

/** The gates of this kind that the pod has. */
export const gatesOf = (pod: Pod): Gate[] => Object.values(gate).filter((name) => hasGate(pod.spec, name));

/**
 * Whether every gate of ours that the pod has is open. Asked beside condition Ready, which follows a gate with a delay:
 * the kubelet computes it from the conditions when it gets round to it.
 */
export const gatesOpen = (pod: Pod): boolean =>
  gatesOf(pod).every((name) => gateCondition(pod, name)?.status === 'True');
