import type { Pod, PodCondition, PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { type Gate, gateCondition, gatesOf, hasGate, toTimestamp } from '../../rollout/index.ts';
import { precondition } from './write-guards.ts';

/** The gates of the template and those of ours that it lacks, each once. */
export const withGates = (spec: PodSpec, gates: readonly Gate[]): PodSpec => {
  const missing = gates.filter((name) => !hasGate(spec, name));
  if (missing.length === 0) return spec;
  const added = missing.map((conditionType) => ({ conditionType }));
  return { ...spec, readinessGates: [...(spec.readinessGates ?? []), ...added] };
};

/** Our gates of this pod that nobody has opened or shut yet: the API server takes no conditions with a new pod. */
export const unsetGates = (pod: Pod): Gate[] => gatesOf(pod).filter((name) => gateCondition(pod, name) === undefined);

const conditions = (
  pod: Pod,
  gates: readonly Gate[],
  open: boolean,
  reason: string,
  now: number,
): { conditions: PodCondition[] } => {
  const status = open ? 'True' : 'False';
  const time = toTimestamp(now);
  return {
    conditions: gates.map((name) => {
      const before = gateCondition(pod, name);
      const lastTransitionTime = before?.status === status ? before.lastTransitionTime : time;
      return { type: name, status, reason, ...(lastTransitionTime !== undefined && { lastTransitionTime }) };
    }),
  };
};

/**
 * The body of a strategic merge patch of `pods/status` that opens or shuts gates, and touches no other condition. It meets
 * the pod as it was decided on, and no other: somebody else may have shut a gate that still looks open.
 */
export const gatePatch = (pod: Pod, gates: readonly Gate[], open: boolean, reason: string, now: number) => ({
  metadata: precondition(pod),
  status: conditions(pod, gates, open, reason, now),
});

export type GatePatch = ReturnType<typeof gatePatch>;

/**
 * The same for the gates of a new pod. That is refused more often, as others write to the pod to bring it to its node: but
 * sent late, by a leader that slept, it would bring a pod back into service that its successor has taken out of it.
 */
export const initialGatePatch = (pod: Pod, now: number): GatePatch =>
  gatePatch(pod, unsetGates(pod), true, 'Created', now);
