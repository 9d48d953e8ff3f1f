import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, type KubeClient, KubeError } from '../kube/index.ts';
import { type Act, type PodFacts, toPodFacts } from '../rollout/index.ts';
import { pods } from './resources.ts';

/** A request that got no answer is not waited for longer: its outcome is settled by asking again. */
const ACT_TIMEOUT_MS = 10_000;

export const FENCE_ANNOTATION = 'edgeset.io/fence';

/** What came of a write to a pod. */
export type Outcome =
  /** The API server confirmed it; the pod as it was left, when it said so. */
  | { kind: 'done'; pod: PodFacts | undefined }
  /** The pod is gone, or another one has its name. */
  | { kind: 'gone' }
  /** The pod has changed since the decision: to be decided anew on what it is now. */
  | { kind: 'changed'; pod: PodFacts }
  | { kind: 'refused'; message: string }
  /** The answer was lost. */
  | { kind: 'unsure'; message: string };

const factsOf = (pod: Pod | undefined): PodFacts | undefined => pod && toPodFacts(pod);

/** Deletes and fences pods of one namespace. Every write names the pod's UID, so that it cannot meet another pod. */
export const createPodActs = (client: KubeClient, namespace: string, identity: string, now: () => number) => {
  const reread = async (act: Act): Promise<Outcome> => {
    try {
      const pod = await client.get(pods, { namespace, name: act.podName }, { timeoutMs: ACT_TIMEOUT_MS });
      const facts = factsOf(pod);
      return facts?.uid === act.podUid ? { kind: 'changed', pod: facts } : { kind: 'gone' };
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return { kind: 'gone' };
      return { kind: 'unsure', message: String(error) };
    }
  };

  const attempt = async (act: Act, write: () => Promise<Pod | undefined>): Promise<Outcome> => {
    try {
      return { kind: 'done', pod: factsOf(await write()) };
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return { kind: 'gone' };
      if (isKubeError(error, 'Conflict')) return reread(act);
      const message = error instanceof Error ? error.message : String(error);
      return error instanceof KubeError && error.happened === 'no'
        ? { kind: 'refused', message }
        : { kind: 'unsure', message };
    }
  };

  return {
    /** Deletes the pod that the act was decided on, and no other: neither re-created nor changed since. */
    delete: (act: Act): Promise<Outcome> =>
      attempt(act, () =>
        client.delete(
          pods,
          { namespace, name: act.podName },
          { preconditions: { uid: act.podUid, resourceVersion: act.podResourceVersion }, timeoutMs: ACT_TIMEOUT_MS },
        ),
      ),
    /** Changes the pod's resourceVersion, so that a delete that another process may still send is refused. */
    fence: (act: Act): Promise<Outcome> =>
      attempt(act, () =>
        client.patch(
          pods,
          { namespace, name: act.podName },
          { metadata: { uid: act.podUid, annotations: { [FENCE_ANNOTATION]: `${identity}/${now()}` } } },
          { type: 'merge', fieldManager: 'edgeset-manager', timeoutMs: ACT_TIMEOUT_MS },
        ),
      ),
  };
};
export type PodActs = ReturnType<typeof createPodActs>;
