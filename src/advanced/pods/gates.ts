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

/** The gates of the template and those of ours that it lacks, each once. */
export const withGates = (spec: PodSpec, gates: readonly Gate[]): PodSpec => {
  const missing = gates.filter((name) => !hasGate(spec, name));
  if (missing.length === 0) return spec;
  const added = missing.map((conditionType) => ({ conditionType }));
  return { ...spec, readinessGates: [...(spec.readinessGates ?? []), ...added] };
};

const conditionOf = (pod: Pod, name: Gate): PodCondition | undefined =>
  pod.status?.conditions?.find(({ type }) => type === name);

/**
 * Whether every gate of ours that the pod has is open. Asked beside condition Ready, which follows a gate with a delay:
 * the kubelet computes it from the conditions when it gets round to it.
 */
export const gatesOpen = (pod: Pod): boolean =>
  Object.values(gate).every((name) => !hasGate(pod.spec, name) || conditionOf(pod, name)?.status === 'True');

/** Our gates of this pod that nobody has opened or shut yet: the API server takes no conditions with a new pod. */
export const gatesToOpen = (pod: Pod): Gate[] =>
  Object.values(gate).filter((name) => hasGate(pod.spec, name) && conditionOf(pod, name) === undefined);

/**
 * The body of a strategic merge patch of `pods/status` that opens or shuts gates, and touches no other condition. It
 * names the pod's UID, so that it cannot meet another pod of the same name.
 */
export const gatePatch = (
  pod: Pod,
  gates: readonly Gate[],
  open: boolean,
  reason: string,
  now: number,
): { metadata: { uid: string }; status: { conditions: PodCondition[] } } => {
  const status = open ? 'True' : 'False';
  const time = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    metadata: { uid: pod.metadata?.uid ?? '' },
    status: {
      conditions: gates.map((name) => {
        const before = conditionOf(pod, name);
        const lastTransitionTime = before?.status === status ? before.lastTransitionTime : time;
        return { type: name, status, reason, ...(lastTransitionTime !== undefined && { lastTransitionTime }) };
      }),
    },
  };
};
