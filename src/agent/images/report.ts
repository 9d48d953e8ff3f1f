import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { backoffMs, isKubeError, type KubeClient } from '../../kube/index.ts';
import { pods } from '../../resources/index.ts';
import { type ImageReadyReason, imageReadyOf, imageReadyPatch } from '../../rollout/index.ts';
import { type Env, sleep } from '../../runtime/index.ts';
import type { PullLimits } from './limits.ts';

const WRITE_MS = 10_000;
const FIELD_MANAGER = 'edgeset-agent';

export interface Report {
  reason: ImageReadyReason;
  cause?: string;
}

/** A pod, and the revision whose images were asked for it. */
export interface Asked {
  namespace: string;
  name: string;
  uid: string;
  revision: string;
}

/**
 * Tells the API server of a pull, on the pod that it was asked for and on no other of the same name. `byAgent`: it is
 * made here, and the manager need not make it.
 */
export const createReporter = (
  client: KubeClient,
  env: Env,
  limits: Pick<PullLimits, 'reportBackoff'>,
  byAgent: boolean,
) => {
  const options = (signal: AbortSignal) => ({ signal, timeoutMs: WRITE_MS });

  const write = (asked: Asked, before: string | undefined, report: Report, signal: AbortSignal): Promise<Pod> =>
    client.patch(
      pods,
      { namespace: asked.namespace, name: asked.name },
      imageReadyPatch(
        { uid: asked.uid, status: before },
        { ...report, revision: asked.revision, byAgent },
        env.clock.now(),
      ),
      { type: 'strategic', subresource: 'status', fieldManager: FIELD_MANAGER, ...options(signal) },
    );

  /** Calls until it succeeds; `undefined` when the pod is gone. */
  const persist = async <T>(signal: AbortSignal, call: () => Promise<T | undefined>): Promise<T | undefined> => {
    for (let failures = 1; ; failures += 1) {
      try {
        return await call();
      } catch (error) {
        signal.throwIfAborted();
        if (isKubeError(error, 'NotFound')) return undefined;
        env.log.warn('an image pull cannot be reported yet', { error });
        await sleep(env.clock, backoffMs(env, failures, limits.reportBackoff), signal);
      }
    }
  };

  const readPod = async (asked: Asked, signal: AbortSignal): Promise<Pod | undefined> => {
    const pod = await client.get(pods, { namespace: asked.namespace, name: asked.name }, options(signal));
    return pod.metadata?.uid === asked.uid ? pod : undefined;
  };

  return {
    /** One attempt, for a caller that waits for its outcome. */
    write,
    /** Until it is written; a pod that is gone, or asked for another revision since, needs no report. */
    settle: (asked: Asked, report: Report, signal: AbortSignal): Promise<Pod | undefined> =>
      persist(signal, async () => {
        const pod = await readPod(asked, signal);
        const before = pod && imageReadyOf(pod);
        if (!pod || (before && before.revision !== asked.revision)) return undefined;
        return write(asked, before?.status, report, signal);
      }),
    /** False when the API server answers at once; true after a time in which it did not. */
    async wasOutOfTouch(asked: Asked, signal: AbortSignal): Promise<boolean> {
      let calls = 0;
      await persist(signal, () => {
        calls += 1;
        return readPod(asked, signal);
      });
      return calls > 1;
    },
  };
};
export type Reporter = ReturnType<typeof createReporter>;
