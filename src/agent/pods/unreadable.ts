import type { Pod } from 'kubernetes-types/core/v1.d.ts';

/** The reason in the status of a pod that stands in for one that the agent cannot read. No kubelet writes it. */
const UNREADABLE = 'AgentCannotRead';

/** Undefined also when reading it throws. */
const tryTo = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/**
 * What stands in for a pod that could not be sanitized: its identity and its owners, and the reason in its status. Its other
 * contents are left out, since nobody knows what they are. `known`: the same pod before.
 */
export const unreadablePod = (pod: Pod, message: string, known: Pod | undefined): Pod => {
  const text = (key: 'name' | 'namespace' | 'uid' | 'resourceVersion' | 'creationTimestamp' | 'deletionTimestamp') => {
    const value: unknown = tryTo(() => pod.metadata?.[key]);
    return typeof value === 'string' ? { [key]: value } : {};
  };
  const ownerReferences =
    tryTo(() => structuredClone(pod.metadata?.ownerReferences)) ?? known?.metadata?.ownerReferences;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...text('name'),
      ...text('namespace'),
      ...text('uid'),
      ...text('resourceVersion'),
      ...text('creationTimestamp'),
      ...text('deletionTimestamp'),
      ...(ownerReferences && { ownerReferences }),
    },
    status: { phase: 'Unknown', reason: UNREADABLE, message },
  };
};

/** Why the pod could not be read; undefined for one that could be. */
export const unreadableReason = ({ status }: Pod): string | undefined =>
  status?.reason === UNREADABLE ? (status.message ?? '') : undefined;
