import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, type KubeClient, type PatchOptions, pods } from '../../kube/index.ts';
import { announcementPatch, type PodFacts, toPodFacts } from '../../rollout/index.ts';
import { type Clock, errorText } from '../../runtime/index.ts';
import { FIELD_MANAGER, ownKey } from '../../words/index.ts';
import type { PodCache, PodControl, PodIdentity, WriteOutcome } from '../pod-writes.ts';
import { decidedOnAgain } from '../status/daemon-rollout.ts';

/** After this time without a response, the outcome is found out by reading the pod. */
export const POD_WRITE_TIMEOUT_MS = 10_000;

export const FENCE_ANNOTATION = ownKey.fence;

const factsOf = (pod: Pod | undefined): PodFacts | undefined => pod && toPodFacts(pod);

/** The outcome of a write that failed with this error. */
export const outcomeOfError = (error: unknown): WriteOutcome => {
  const message = errorText(error);
  if (!isKubeError(error) || error.happened === 'unknown') return { kind: 'unsure', message };
  const wasRead = error.status > 0 && error.code !== 'TooManyRequests';
  return { kind: 'refused', reason: wasRead ? error.code : undefined, message };
};

export const createPodControl = (
  client: KubeClient,
  namespace: string,
  identity: string,
  clock: Pick<Clock, 'now'>,
  cache?: Pick<PodCache, 'accept' | 'acceptDeletion'>,
): PodControl => {
  const gone = (pod: PodIdentity): WriteOutcome => {
    cache?.acceptDeletion(pod);
    return { kind: 'gone' };
  };

  const read = async (pod: PodIdentity, signal: AbortSignal): Promise<WriteOutcome> => {
    try {
      const found = await client.get(
        pods,
        { namespace, name: pod.podName },
        { timeoutMs: POD_WRITE_TIMEOUT_MS, signal },
      );
      const facts = factsOf(found);
      if (facts?.uid !== pod.podUid) return gone(pod);
      cache?.accept(found);
      return { kind: 'changed', pod: facts };
    } catch (error) {
      return isKubeError(error, 'NotFound') ? gone(pod) : { kind: 'unsure', message: errorText(error) };
    }
  };

  const afterMissingResize = async (pod: PodIdentity, signal: AbortSignal): Promise<WriteOutcome> => {
    const found = await read(pod, signal);
    const message = 'the API server cannot resize pods, which Kubernetes 1.33 and later can';
    return found.kind === 'changed' ? { kind: 'refused', reason: 'NotFound', message } : found;
  };

  const attempt = async (
    pod: PodIdentity,
    signal: AbortSignal,
    write: () => Promise<Pod | undefined>,
    { subresource, dryRun }: Pick<PatchOptions, 'subresource' | 'dryRun'> = {},
  ): Promise<WriteOutcome> => {
    try {
      const written = await write();
      if (written && !dryRun) cache?.accept(written);
      return { kind: 'done', pod: factsOf(written) };
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return subresource === 'resize' ? afterMissingResize(pod, signal) : gone(pod);
      if (isKubeError(error, 'Conflict')) return read(pod, signal);
      return outcomeOfError(error);
    }
  };

  const patch: PodControl['patch'] = async (pod, body, options, signal) => {
    const write = (): Promise<Pod> =>
      client.patch(pods, { namespace, name: pod.podName }, body, {
        ...options,
        fieldManager: FIELD_MANAGER,
        timeoutMs: POD_WRITE_TIMEOUT_MS,
        signal,
      });
    const outcome = await attempt(pod, signal, write, options);
    // The API server answers a patch with another UID than the pod's with Invalid, not with Conflict; and so a test that fails.
    if (outcome.kind !== 'refused' || outcome.reason !== 'Invalid') return outcome;
    const found = await read(pod, signal);
    return found.kind === 'gone' || options.type === 'json' ? found : outcome;
  };

  const sign = (): Record<string, string> => ({ [FENCE_ANNOTATION]: `${identity}/${Math.floor(clock.now())}` });

  return {
    patch,
    read,
    delete: (pod, signal) =>
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
    announce({ uid, name, announced, approved }, wanted, signal) {
      const body = announcementPatch({ uid, announced, approved }, wanted, clock.now());
      return patch({ podName: name, podUid: uid }, body, { type: 'strategic', subresource: 'status' }, signal);
    },
    fence: (pod, signal) =>
      patch(pod, { metadata: { uid: pod.podUid, annotations: sign() } }, { type: 'merge' }, signal),
    claim: (pod, signal) => {
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
