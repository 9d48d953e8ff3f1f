/** What is written to pods, and how such a write can end. */

import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { PatchOptions } from '../kube/index.ts';
import type { Announcement, NodeUpdate, PodFacts } from '../rollout/index.ts';

/** Identifies a pod for good. */
export type PodIdentity = Pick<NodeUpdate, 'podName' | 'podUid'>;

/** The pod as a decision saw it. */
export type PodVersion = PodIdentity & Pick<NodeUpdate, 'podResourceVersion'>;

/** The cache of the pods of one DaemonSet, to which responses are handed. See `Reflector`. */
export interface PodCache {
  accept(pod: Pod): void;
  acceptDeletion(pod: PodIdentity): void;
  reached(version: string): boolean;
}

/** The outcome of a write to a pod. */
export type WriteOutcome =
  /** The API server confirmed the write; the pod after it, if the response has it. */
  | { kind: 'done'; pod: PodFacts | undefined }
  /** The pod is gone, or another pod has its name. */
  | { kind: 'gone' }
  /**
   * The pod has changed since the decision, or was prepared for the update: decide again on what it is now. `begun`: the update's
   * own first write took it out of service.
   */
  | { kind: 'changed'; pod: PodFacts; begun?: true }
  /** Nothing was sent: a hook comes first. To be tried again when the pod has changed, or at `at`, epoch ms. */
  | { kind: 'later'; at: number }
  /** `reason`: the API server's reason; undefined if it did not look at the request, which says nothing about the pod. */
  | { kind: 'refused'; reason: string | undefined; message: string }
  /** The API server refuses to change the pod in place, for good, and would accept a new pod: recreate it. */
  | { kind: 'recreate'; reason: string; message: string }
  /** There was no response: the write may have been applied. */
  | { kind: 'unsure'; message: string };

/** What is written to the pod of a node, in the words of the decision. */
export type PodWriteKind = 'delete' | 'update-in-place' | 'surge' | 'delete-old';

/**
 * Writes to the pods of one namespace. Every write names the pod's UID, so that it never reaches another pod, and hands what
 * the response says of the pod to its cache: nothing is written twice while the watch is behind.
 */
export interface PodControl {
  /**
   * The body names the pod's UID, and its resourceVersion if the decision depends on the content. A JSON patch names what it depends on
   * in tests; it is `changed` if one fails, or if it isn't valid.
   */
  patch(
    pod: PodIdentity,
    body: object,
    options: Pick<PatchOptions, 'type' | 'subresource' | 'mayRepeat' | 'dryRun'>,
    signal: AbortSignal,
  ): Promise<WriteOutcome>;
  /** The pod as it is now, as outcome `changed`. */
  read(pod: PodIdentity, signal: AbortSignal): Promise<WriteOutcome>;
  /** Deletes exactly the pod that was decided on: neither created again nor changed since. */
  delete(pod: PodVersion, signal: AbortSignal): Promise<WriteOutcome>;
  /** Writes condition PodNeedUpgrade of a pod, or removes it, and nothing else. */
  announce(
    pod: Pick<PodFacts, 'uid' | 'name' | 'announced' | 'approved'>,
    wanted: Announcement | 'none',
    signal: AbortSignal,
  ): Promise<WriteOutcome>;
  /** Changes the pod's resourceVersion, so that the API server refuses what another process may still send. */
  fence(pod: PodIdentity, signal: AbortSignal): Promise<WriteOutcome>;
  /** The same, only on the version that was decided on: before a write that cannot have the pod as a precondition. */
  claim(pod: PodVersion, signal: AbortSignal): Promise<WriteOutcome>;
}
