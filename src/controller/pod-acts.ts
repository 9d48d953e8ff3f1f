import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, type KubeClient } from '../kube/index.ts';
import { type Act, type Announcement, announcementPatch, type PodFacts, toPodFacts } from '../rollout/index.ts';
import type { Clock } from '../runtime/index.ts';
import { pods } from './resources.ts';
import { FIELD_MANAGER } from './rollout-object.ts';

/** A request that got no answer is not waited for longer: its outcome is settled by asking again. */
export const ACT_TIMEOUT_MS = 10_000;

export const FENCE_ANNOTATION = 'edgeset.io/fence';

/** What came of a write to a pod. */
export type Outcome =
  /** The API server confirmed it; the pod as it was left, when it said so. */
  | { kind: 'done'; pod: PodFacts | undefined }
  /** The pod is gone, or another one has its name. */
  | { kind: 'gone' }
  /** The pod has changed since the decision: to be decided anew on what it is now. */
  | { kind: 'changed'; pod: PodFacts }
  /** `reason`: the API server's own word for it; undefined when the request never reached it. */
  | { kind: 'refused'; reason: string | undefined; message: string }
  /** The answer was lost. */
  | { kind: 'unsure'; message: string };

const factsOf = (pod: Pod | undefined): PodFacts | undefined => pod && toPodFacts(pod);

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Deletes, fences and announces to pods of one namespace. Every write names the pod's UID, so that it cannot meet another pod. */
export const createPodActs = (client: KubeClient, namespace: string, identity: string, clock: Pick<Clock, 'now'>) => {
  const reread = async (act: Pick<Act, 'podName' | 'podUid'>, signal: AbortSignal): Promise<Outcome> => {
    try {
      const pod = await client.get(pods, { namespace, name: act.podName }, { timeoutMs: ACT_TIMEOUT_MS, signal });
      const facts = factsOf(pod);
      return facts?.uid === act.podUid ? { kind: 'changed', pod: facts } : { kind: 'gone' };
    } catch (error) {
      return isKubeError(error, 'NotFound') ? { kind: 'gone' } : { kind: 'unsure', message: textOf(error) };
    }
  };

  const attempt = async (
    act: Pick<Act, 'podName' | 'podUid'>,
    signal: AbortSignal,
    write: () => Promise<Pod | undefined>,
  ): Promise<Outcome> => {
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

  return {
    /** Deletes the pod that the act was decided on, and no other: neither re-created nor changed since. */
    delete: (act: Act, signal: AbortSignal): Promise<Outcome> =>
      attempt(act, signal, () =>
        client.delete(
          pods,
          { namespace, name: act.podName },
          {
            preconditions: { uid: act.podUid, resourceVersion: act.podResourceVersion },
            timeoutMs: ACT_TIMEOUT_MS,
            signal,
          },
        ),
      ),
    /** Brings condition PodNeedUpgrade of a pod to what it should say, and touches nothing else. */
    async announce(
      pod: Pick<PodFacts, 'uid' | 'name' | 'announced'>,
      wanted: Announcement | 'none',
      signal: AbortSignal,
    ): Promise<Outcome> {
      const { uid, name, announced } = pod;
      const act = { podUid: uid, podName: name };
      const patch = announcementPatch({ uid, announced }, wanted, clock.now());
      const outcome = await attempt(act, signal, () =>
        client.patch(pods, { namespace, name }, patch, {
          type: 'strategic',
          subresource: 'status',
          fieldManager: FIELD_MANAGER,
          timeoutMs: ACT_TIMEOUT_MS,
          signal,
        }),
      );
      // A patch that names another UID than the pod's is told to be invalid, not in conflict.
      if (outcome.kind !== 'refused' || outcome.reason !== 'Invalid') return outcome;
      const found = await reread(act, signal);
      return found.kind === 'gone' ? found : outcome;
    },
    /** Changes the pod's resourceVersion, so that a delete that another process may still send is refused. */
    fence: (act: Act, signal: AbortSignal): Promise<Outcome> =>
      attempt(act, signal, () =>
        client.patch(
          pods,
          { namespace, name: act.podName },
          { metadata: { uid: act.podUid, annotations: { [FENCE_ANNOTATION]: `${identity}/${clock.now()}` } } },
          { type: 'merge', fieldManager: FIELD_MANAGER, timeoutMs: ACT_TIMEOUT_MS, signal },
        ),
      ),
  };
};
export type PodActs = ReturnType<typeof createPodActs>;
