import type { Pod, PodCondition, PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { gateCondition, gatesOf, hasGate, toTimestamp } from '../../../rollout/index.ts';
import type { Gate } from '../../../words/index.ts';
import { precondition } from './write-guards.ts';

/** Adds the gates that the template lacks. */
export const withGates = (spec: PodSpec, gates: readonly Gate[]): PodSpec => {
  const missing = gates.filter((name) => !hasGate(spec, name));
  if (missing.length === 0) return spec;
  const added = missing.map((conditionType) => ({ conditionType }));
  return { ...spec, readinessGates: [...(spec.readinessGates ?? []), ...added] };
};

/** Gates without a condition: the API server accepts no conditions on a new pod. */
export const unsetGates = (pod: Pod): Gate[] => gatesOf(pod).filter((name) => gateCondition(pod, name) === undefined);

/**
 * What the condition of a gate says of the write that closed it. Only one write can succeed on a version of a pod, so the pod's
 * UID and this text name that write, and nobody has touched the gate since as long as it is there.
 */
const claimOf = ({ metadata }: Pod): string => `closed on version ${metadata?.resourceVersion ?? ''}`;

const conditions = (
  pod: Pod,
  gates: readonly Gate[],
  open: boolean,
  reason: string,
  now: number,
): { conditions: PodCondition[] } => {
  const status = open ? 'True' : 'False';
  const time = toTimestamp(now);
  const message = open ? '' : claimOf(pod);
  return {
    conditions: gates.map((name) => {
      const before = gateCondition(pod, name);
      const lastTransitionTime = (before?.status === status ? before.lastTransitionTime : undefined) ?? time;
      return {
        type: name,
        status,
        reason,
        ...((before?.message ?? '') !== message && { message }),
        lastTransitionTime,
      };
    }),
  };
};

/**
 * A strategic merge patch of `pods/status` that opens or closes gates and touches no other condition. It applies only to this
 * version of the pod: somebody else may have closed a gate that still looks open.
 */
export const gatePatch = (pod: Pod, gates: readonly Gate[], open: boolean, reason: string, now: number) => ({
  metadata: precondition(pod),
  status: conditions(pod, gates, open, reason, now),
});

export type GatePatch = ReturnType<typeof gatePatch>;

/**
 * Opens the gates of a new pod. It conflicts more often, because scheduler and kubelet write to a new pod; but without the
 * precondition, a suspended leader could return a pod to service that its successor has taken out of it.
 */
export const initialGatePatch = (pod: Pod, now: number): GatePatch =>
  gatePatch(pod, unsetGates(pod), true, 'Created', now);
