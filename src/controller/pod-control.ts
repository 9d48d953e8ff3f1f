import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, type KubeClient, type PatchOptions } from '../kube/index.ts';
import { type Announcement, announcementPatch, type NodeUpdate, type PodFacts, toPodFacts } from '../rollout/index.ts';
import type { Clock } from '../runtime/index.ts';
import { pods } from './resources.ts';
import { FIELD_MANAGER } from './rollout-object.ts';

/** A request that got no answer is not waited for longer: its outcome is settled by asking again. */
export const POD_WRITE_TIMEOUT_MS = 10_000;

export const FENCE_ANNOTATION = 'edgeset.io/fence';

/** What came of a write to a pod. */
export type WriteOutcome =
  /** The API server confirmed it; the pod as it was left, when it said so. */
  | { kind: 'done'; pod: PodFacts | undefined }
  /** The pod is gone, or another one has its name. */
  | { kind: 'gone' }
  /** The pod has changed since the decision, or was prepared for the act: to be decided anew on what it is now. */
  | { kind: 'changed'; pod: PodFacts }
  /** Nothing was sent: somebody else has a part in it first. Tried again when the pod has changed, or at `at`, epoch ms. */
  | { kind: 'later'; at: number }
  /** `reason`: the API server's own word for it; undefined when the request never reached it. */
  | { kind: 'refused'; reason: string | undefined; message: string }
  /** The answer was lost. */
  | { kind: 'unsure'; message: string };

const factsOf = (pod: Pod | undefined): PodFacts | undefined => pod && toPodFacts(pod);

/** Names a pod for good. */
export type PodIdentity = Pick<NodeUpdate, 'podName' | 'podUid'>;

type Told = Pick<PodFacts, 'uid' | 'name' | 'announced' | 'approved'>;

/** As a decision saw it. */
export type PodVersion = PodIdentity & Pick<NodeUpdate, 'podResourceVersion'>;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Writes to pods of one namespace. Every one names the pod's UID, so that it cannot meet another pod. */
export const createPodControl = (
  client: KubeClient,
  namespace: string,
  identity: string,
  clock: Pick<Clock, 'now'>,
) => {
  const reread = async (act: PodIdentity, signal: AbortSignal): Promise<WriteOutcome> => {
    try {
      const pod = await client.get(pods, { namespace, name: act.podName }, { timeoutMs: POD_WRITE_TIMEOUT_MS, signal });
      const facts = factsOf(pod);
      return facts?.uid === act.podUid ? { kind: 'changed', pod: facts } : { kind: 'gone' };
    } catch (error) {
      return isKubeError(error, 'NotFound') ? { kind: 'gone' } : { kind: 'unsure', message: textOf(error) };
    }
  };

  const attempt = async (
    act: PodIdentity,
    signal: AbortSignal,
    write: () => Promise<Pod | undefined>,
  ): Promise<WriteOutcome> => {
    try {
      return { kind: 'done', pod: factsOf(await write()) };
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return { kind: 'gone' };
      if (isKubeError(error, 'Conflict')) return reread(act, signal);
      const message = textOf(error);
      if (!isKubeError(error) || error.happened === 'unknown') return { kind: 'unsure', message };
      return { kind: 'refused', reason: error.status > 0 ? error.code : undefined, message };
    }
  };

  /** The body names the pod's UID, and its resourceVersion where the decision read the content. */
  const patch = async (
    pod: PodIdentity,
    body: object,
    how: Pick<PatchOptions, 'type' | 'subresource'>,
    signal: AbortSignal,
  ): Promise<WriteOutcome> => {
    const outcome = await attempt(pod, signal, () =>
      client.patch(pods, { namespace, name: pod.podName }, body, {
        ...how,
        fieldManager: FIELD_MANAGER,
        timeoutMs: POD_WRITE_TIMEOUT_MS,
        signal,
      }),
    );
    // A patch that names another UID than the pod's is told to be invalid, not in conflict.
    if (outcome.kind !== 'refused' || outcome.reason !== 'Invalid') return outcome;
    const found = await reread(pod, signal);
    return found.kind === 'gone' ? found : outcome;
  };

  const sign = (): Record<string, string> => ({ [FENCE_ANNOTATION]: `${identity}/${clock.now()}` });

  return {
    patch,
    /** The pod as it is, told as `changed`. */
    read: (pod: PodIdentity, signal: AbortSignal): Promise<WriteOutcome> => reread(pod, signal),
    /** Deletes the pod that was decided on, and no other: neither re-created nor changed since. */
    delete: (pod: PodVersion, signal: AbortSignal): Promise<WriteOutcome> =>
      attempt(pod, signal, () =>
        client.delete(
          pods,
          { namespace, name: pod.podName },
          {
            preconditions: { uid: pod.podUid, resourceVersion: pod.podResourceVersion },
            timeoutMs: POD_WRITE_TIMEOUT_MS,
            signal,
          },
        ),
      ),
    /** Brings condition PodNeedUpgrade of a pod to what it should say, and touches nothing else. */
    announce(
      { uid, name, announced, approved }: Told,
      wanted: Announcement | 'none',
      signal: AbortSignal,
    ): Promise<WriteOutcome> {
      const body = announcementPatch({ uid, announced, approved }, wanted, clock.now());
      return patch({ podName: name, podUid: uid }, body, { type: 'strategic', subresource: 'status' }, signal);
    },
    /** Changes the pod's resourceVersion, so that a write that another process may still send is refused. */
    fence: (pod: PodIdentity, signal: AbortSignal): Promise<WriteOutcome> =>
      patch(pod, { metadata: { uid: pod.podUid, annotations: sign() } }, { type: 'merge' }, signal),
    /** The same on the version that was decided on alone: before a write that Kubernetes cannot bind to this pod. */
    claim: (pod: PodVersion, signal: AbortSignal): Promise<WriteOutcome> => {
      const { podUid: uid, podResourceVersion: resourceVersion } = pod;
      return patch(pod, { metadata: { uid, resourceVersion, annotations: sign() } }, { type: 'merge' }, signal);
    },
  };
};
export type PodControl = ReturnType<typeof createPodControl>;
