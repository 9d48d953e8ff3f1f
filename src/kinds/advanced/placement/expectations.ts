import type { Clock } from '../../../runtime/index.ts';
import type { CachedPod } from '../podcontrol/cached-pod.ts';

/** How long the cache may take to show a created pod. Then the pod is read before the node may get another one. */
const OBSERVED_WITHIN_MS = 30_000;

/** A pod that was created for a node. Without a UID it may have been created: no response came. */
export interface CreatedPod {
  name: string;
  uid: string | undefined;
}

export interface Expectations {
  /** A creation for each of the nodes has been decided. */
  expect(nodes: readonly string[]): void;
  /** The creations for these nodes have ended; those without a known result are no longer expected. */
  settle(nodes: readonly string[]): void;
  created(node: string, pod: CreatedPod): void;
  /** The pod may exist, or another process created it. */
  mayExist: (node: string, pod: CreatedPod) => void;
  /** The API server doesn't have the unobserved pod. */
  doesNotExist: (node: string) => void;
  /** No pod is expected on the node. */
  cancel: (node: string) => void;
  /** Is a pod expected, whether or not the expectation has expired? */
  has: (node: string) => boolean;
  /** Is a pod expected? Removes an expired expectation. */
  isExpected(node: string): boolean;
  /** Is the result of the creation still unknown? No event may ever tell. */
  isUncertain: (node: string) => boolean;
  /** When the expectation for the node expires, epoch ms; Infinity for never. */
  expiresAt: (node: string) => number;
  unobservedOn: (node: string) => CreatedPod | undefined;
  /** Number of pods that are being created, or created and not observed. */
  inFlight: () => number;
  /** The cache shows the pod. If the result of a creation is unknown, any live pod on the node fulfills it. */
  podObserved(cached: CachedPod): void;
  /** The cache no longer shows the pod. */
  podGone(cached: CachedPod): void;
}

/**
 * Expected pod creations, for each node: a pod that was created and that the cache doesn't show yet must not get a
 * duplicate. An expectation that is not fulfilled expires, but the pod is remembered until it is known to be gone.
 */
export const createExpectations = (clock: Pick<Clock, 'now'>): Expectations => {
  /** Nodes whose pod is being created, or is created and not observed. */
  const pending = new Map<string, { uid: string | undefined; expiresAt: number }>();
  /** The last pod created for a node, until the cache shows it or the API server no longer has it. */
  const unobserved = new Map<string, CreatedPod>();

  return {
    expect(nodes) {
      for (const node of nodes) pending.set(node, { uid: undefined, expiresAt: Number.POSITIVE_INFINITY });
    },
    settle(nodes) {
      for (const node of nodes) if (pending.get(node)?.uid === undefined) pending.delete(node);
    },
    created(node, pod) {
      unobserved.set(node, pod);
      pending.set(node, { uid: pod.uid, expiresAt: clock.now() + OBSERVED_WITHIN_MS });
    },
    mayExist: (node, pod) => void unobserved.set(node, pod),
    doesNotExist: (node) => void unobserved.delete(node),
    cancel: (node) => void pending.delete(node),

    has: (node) => pending.has(node),
    isExpected(node) {
      const expected = pending.get(node);
      if (expected && clock.now() >= expected.expiresAt) pending.delete(node);
      return pending.has(node);
    },
    isUncertain: (node) => pending.has(node) && pending.get(node)?.uid === undefined,
    expiresAt: (node) => pending.get(node)?.expiresAt ?? Number.POSITIVE_INFINITY,
    unobservedOn: (node) => unobserved.get(node),
    inFlight: () => pending.size,

    podObserved({ facts: { node, uid, terminating } }) {
      if (unobserved.get(node)?.uid === uid) unobserved.delete(node);
      const expected = pending.get(node);
      if (expected && (expected.uid === uid || (expected.uid === undefined && !terminating))) pending.delete(node);
    },
    podGone({ facts: { node, uid } }) {
      if (pending.get(node)?.uid === uid) pending.delete(node);
      if (unobserved.get(node)?.uid === uid) unobserved.delete(node);
    },
  };
};
