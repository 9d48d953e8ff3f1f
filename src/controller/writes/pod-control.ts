import { type KubeClient, type PatchOptions, isKubeError, pods } from '../../kube/index.ts';
import { type Announcement, type NodeUpdate, type PodFacts, announcementPatch, toPodFacts } from '../../rollout/index.ts';
import { type Clock, errorText } from '../../runtime/index.ts';
import { FIELD_MANAGER, ownKey } from '../../words/index.ts';
import { decidedOnAgain } from '../status/daemon-rollout.ts';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';

/** After this time without a response, the outcome is found out by reading the pod. */
export const POD_WRITE_TIMEOUT_MS = 10_000;

export const FENCE_ANNOTATION = ownKey.fence;

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

const factsOf = (pod: Pod | undefined): PodFacts | undefined => pod && toPodFacts(pod);

/** Identifies a pod for good. */
export type PodIdentity = Pick<NodeUpdate, 'podName' | 'podUid'>;

type AnnouncedPod = Pick<PodFacts, 'uid' | 'name' | 'announced' | 'approved'>;

/** The pod as a decision saw it. */
export type PodVersion = PodIdentity & Pick<NodeUpdate, 'podResourceVersion'>;

/** The outcome of a write that failed with this error. */
export const outcomeOfError = (error: unknown): WriteOutcome => {
  const message = errorText(error);
  if (!isKubeError(error) || error.happened === 'unknown') return { kind: 'unsure', message };
  const wasRead = error.status > 0 && error.code !== 'TooManyRequests';
  return { kind: 'refused', reason: wasRead ? error.code : undefined, message };
};

/** Writes to the pods of one namespace. Every write names the pod's UID, so that it never reaches another pod. */
export const createPodControl = (
  client: KubeClient,
  namespace: string,
  identity: string,
  clock: Pick<Clock, 'now'>,
) => {
  const read = async (pod: PodIdentity, signal: AbortSignal): Promise<WriteOutcome> => {
    try {
      const found = await client.get(
        pods,
        { namespace, name: pod.podName },
        { timeoutMs: POD_WRITE_TIMEOUT_MS, signal },
      );
      const facts = factsOf(found);
      return facts?.uid === pod.podUid ? { kind: 'changed', pod: facts } : { kind: 'gone' };
    } catch (error) {
      return isKubeError(error, 'NotFound') ? { kind: 'gone' } : { kind: 'unsure', message: errorText(error) };
    }
  };

  const attempt = async (
    pod: PodIdentity,
    signal: AbortSignal,
    write: () => Promise<Pod | undefined>,
  ): Promise<WriteOutcome> => {
    try {
      return { kind: 'done', pod: factsOf(await write()) };
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return { kind: 'gone' };
      if (isKubeError(error, 'Conflict')) return read(pod, signal);
      return outcomeOfError(error);
    }
  };

  /** The body names the pod's UID, and its resourceVersion if the decision depends on the content. */
  const patch = async (
    pod: PodIdentity,
    body: object,
    options: Pick<PatchOptions, 'type' | 'subresource' | 'mayRepeat' | 'dryRun'>,
    signal: AbortSignal,
  ): Promise<WriteOutcome> => {
    const outcome = await attempt(pod, signal, () =>
      client.patch(pods, { namespace, name: pod.podName }, body, {
        ...options,
        fieldManager: FIELD_MANAGER,
        timeoutMs: POD_WRITE_TIMEOUT_MS,
        signal,
      }),
    );
    if (outcome.kind === 'gone' && options.subresource === 'resize') {
      const found = await read(pod, signal);
      const message = 'the API server cannot resize pods, which Kubernetes 1.33 and later can';
      return found.kind === 'changed' ? { kind: 'refused', reason: 'NotFound', message } : found;
    }
    // The API server answers a patch with another UID than the pod's with Invalid, not with Conflict.
    if (outcome.kind !== 'refused' || outcome.reason !== 'Invalid') return outcome;
    const found = await read(pod, signal);
    return found.kind === 'gone' ? found : outcome;
  };

  const sign = (): Record<string, string> => ({ [FENCE_ANNOTATION]: `${identity}/${Math.floor(clock.now())}` });

  return {
    patch,
    /** The pod as it is now, as outcome `changed`. */
    read,
    /** Deletes exactly the pod that was decided on: neither created again nor changed since. */
    delete: (pod: PodVersion, signal: AbortSignal): Promise<WriteOutcome> =>
      attempt(pod, signal, () =>
        client.delete(
          pods,
          { namespace, name: pod.podName },
          {
            preconditions: { uid: pod.podUid, resourceVersion: pod.podResourceVersion },
            timeoutMs: POD_WRITE_TIMEOUT_MS,
            signal,
            ...decidedOnAgain,
          },
        ),
      ),
    /** Writes condition PodNeedUpgrade of a pod, or removes it, and nothing else. */
    announce(
      { uid, name, announced, approved }: AnnouncedPod,
      wanted: Announcement | 'none',
      signal: AbortSignal,
    ): Promise<WriteOutcome> {
      const body = announcementPatch({ uid, announced, approved }, wanted, clock.now());
      return patch({ podName: name, podUid: uid }, body, { type: 'strategic', subresource: 'status' }, signal);
    },
    /** Changes the pod's resourceVersion, so that the API server refuses what another process may still send. */
    fence: (pod: PodIdentity, signal: AbortSignal): Promise<WriteOutcome> =>
      patch(pod, { metadata: { uid: pod.podUid, annotations: sign() } }, { type: 'merge' }, signal),
    /** The same, only on the version that was decided on: before a write that cannot have the pod as a precondition. */
    claim: (pod: PodVersion, signal: AbortSignal): Promise<WriteOutcome> => {
      const { podUid: uid, podResourceVersion: resourceVersion } = pod;
      return patch(
        pod,
        { metadata: { uid, resourceVersion, annotations: sign() } },
        { type: 'merge', ...decidedOnAgain },
        signal,
      );
    },
  };
};
export type PodControl = ReturnType<typeof createPodControl>;
