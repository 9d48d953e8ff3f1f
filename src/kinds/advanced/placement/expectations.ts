import type { CachedPod } from '../podcontrol/cached-pod.ts';

/** A pod that may exist although the cache doesn't show it. Without a UID it may have been created: no response came. */
export interface UnobservedPod {
  name: string;
  uid: string | undefined;
}

export interface Expectations {
  /** A creation for each of the nodes has been decided. */
  expect(nodes: readonly string[]): void;
  /** The creations for these nodes have ended. */
  settle(nodes: readonly string[]): void;
  mayExist: (node: string, pod: UnobservedPod) => void;
  /** The API server doesn't have the unobserved pod. */
  doesNotExist: (node: string) => void;
  /** Is a pod expected? */
  has: (node: string) => boolean;
  unobservedOn: (node: string) => UnobservedPod | undefined;
  /** Number of pods that are being created. */
  inFlight: () => number;
  /** The cache shows the pod: any live pod on the node fulfills the expectation. */
  podObserved(cached: CachedPod): void;
  /** The cache no longer shows the pod. */
  podGone(cached: CachedPod): void;
}

/**
 * Expected pod creations, for each node: while one is under way, its node must not get a duplicate. A creation without a
 * response is remembered until the pod is known to exist or not.
 */
export const createExpectations = (): Expectations => {
  /** Nodes whose pod is being created. */
  const pending = new Set<string>();
  /** By node. */
  const unobserved = new Map<string, UnobservedPod>();

  return {
    expect(nodes) {
      for (const node of nodes) pending.add(node);
    },
    settle(nodes) {
      for (const node of nodes) pending.delete(node);
    },
    mayExist: (node, pod) => void unobserved.set(node, pod),
    doesNotExist: (node) => void unobserved.delete(node),
    has: (node) => pending.has(node),
    unobservedOn: (node) => unobserved.get(node),
    inFlight: () => pending.size,
    podObserved({ facts: { node, uid, terminating } }) {
      if (unobserved.get(node)?.uid === uid) unobserved.delete(node);
      if (!terminating) pending.delete(node);
    },
    podGone({ facts: { node, uid } }) {
      if (unobserved.get(node)?.uid === uid) unobserved.delete(node);
    },
  };
};
