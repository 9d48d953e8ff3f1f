import type { Clock } from '../../../runtime/index.ts';
import type { CachedPod } from '../podcontrol/cached-pod.ts';

/** How long the cache may take to show a created pod. Then the pod is read before the node may get another one. */
const OBSERVED_WITHIN_MS = 30_000;

/** A pod that was created for a node. Without a UID it may have been created: no response came. */
export interface CreatedPod {
  name: string;
  uid: string | undefined;
}

/**
 * Expected pod creations, for each node: a pod that was created and that the cache doesn't show yet must not get a
 * duplicate. An expectation that is not fulfilled expires, but the pod is remembered until it is known to be gone.
 */
export const createExpectations = (clock: Pick<Clock, 'now'>) => {
  /** Nodes whose pod is being created, or is created and not observed. */
  const pending = new Map<string, { uid: string | undefined; expiresAt: number }>();
  /** The last pod created for a node, until the cache shows it or the API server no longer has it. */
  const unobserved = new Map<string, CreatedPod>();

  return {
    /** A creation for each of the nodes has been decided. */
    expect(nodes: readonly string[]): void {
      for (const node of nodes) pending.set(node, { uid: undefined, expiresAt: Number.POSITIVE_INFINITY });
    },
    /** The creations for these nodes have ended; those without a known result are no longer expected. */
    settle(nodes: readonly string[]): void {
      for (const node of nodes) if (pending.get(node)?.uid === undefined) pending.delete(node);
    },
    created(node: string, pod: CreatedPod): void {
      unobserved.set(node, pod);
      pending.set(node, { uid: pod.uid, expiresAt: clock.now() + OBSERVED_WITHIN_MS });
    },
    /** The pod may exist, or another process created it. */
    mayExist: (node: string, pod: CreatedPod): void => void unobserved.set(node, pod),
    /** The API server doesn't have the unobserved pod. */
    doesNotExist: (node: string): void => void unobserved.delete(node),
    /** No pod is expected on the node. */
    cancel: (node: string): void => void pending.delete(node),

    /** Is a pod expected, whether or not the expectation has expired? */
    has: (node: string): boolean => pending.has(node),
    /** Is a pod expected? Removes an expired expectation. */
    isExpected(node: string): boolean {
      const expected = pending.get(node);
      if (expected && clock.now() >= expected.expiresAt) pending.delete(node);
      return pending.has(node);
    },
    /** Is the result of the creation still unknown? No event may ever tell. */
    isUncertain: (node: string): boolean => pending.has(node) && pending.get(node)?.uid === undefined,
    /** When the expectation for the node expires, epoch ms; Infinity for never. */
    expiresAt: (node: string): number => pending.get(node)?.expiresAt ?? Number.POSITIVE_INFINITY,
    unobservedOn: (node: string): CreatedPod | undefined => unobserved.get(node),
    /** Number of pods that are being created, or created and not observed. */
    inFlight: (): number => pending.size,

    /** The cache shows the pod. If the result of a creation is unknown, any live pod on the node fulfills it. */
    podObserved({ facts: { node, uid, terminating } }: CachedPod): void {
      if (unobserved.get(node)?.uid === uid) unobserved.delete(node);
      const expected = pending.get(node);
      if (expected && (expected.uid === uid || (expected.uid === undefined && !terminating))) pending.delete(node);
    },
    /** The cache no longer shows the pod. */
    podGone({ facts: { node, uid } }: CachedPod): void {
      if (pending.get(node)?.uid === uid) pending.delete(node);
      if (unobserved.get(node)?.uid === uid) unobserved.delete(node);
    },
  };
};
