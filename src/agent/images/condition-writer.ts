import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, type KubeClient, type KubeError, pods } from '../../kube/index.ts';
import { imageReadyOf, imageReadyPatch } from '../../rollout/index.ts';
import { backoffMs, type Env, sleep } from '../../runtime/index.ts';
import type { ImageReadyReason } from '../../words/index.ts';
import type { PullLimits } from './puller.ts';

const FIELD_MANAGER = 'edgeset-agent';
/** A new RBAC rule takes a few seconds to reach every API server; after that, `Forbidden` is final. */
const FORBIDDEN_TRIES = 6;

export interface PullReport {
  reason: ImageReadyReason;
  cause?: string;
}

/** A pod, and the revision whose images were requested for it. */
export interface PullRequest {
  namespace: string;
  name: string;
  uid: string;
  revision: string;
}

/** The API server rejected the request itself: retrying gets the same answer. */
export const isRefused = (error: unknown): error is KubeError =>
  isKubeError(error, 'BadRequest', 'Forbidden', 'NotFound', 'Invalid');

/** `needless`: the pod is gone, or its images were requested for another revision since. */
export type ReportResult = { kind: 'written'; pod: Pod } | { kind: 'needless' } | { kind: 'refused'; message: string };

/**
 * Writes the progress of a pull to the condition PodImageReady of the pod that requested it, and of no other pod with that
 * name. `byAgent`: the agent pulls, so the manager doesn't have to.
 */
export const createConditionWriter = (
  client: KubeClient,
  env: Env,
  limits: Pick<PullLimits, 'reportBackoff'>,
  byAgent: boolean,
) => {
  const write = (
    request: PullRequest,
    before: string | undefined,
    result: PullReport,
    signal: AbortSignal,
  ): Promise<Pod> =>
    client.patch(
      pods,
      { namespace: request.namespace, name: request.name },
      imageReadyPatch(
        { uid: request.uid, status: before },
        { ...result, revision: request.revision, byAgent },
        env.clock.now(),
      ),
      { type: 'strategic', subresource: 'status', fieldManager: FIELD_MANAGER, signal },
    );

  /** Retries until the call succeeds; throws when the API server rejects it for good. */
  const persist = async <T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> => {
    for (let failures = 1; ; failures += 1) {
      try {
        return await call();
      } catch (error) {
        signal.throwIfAborted();
        if (isRefused(error) && (error.code !== 'Forbidden' || failures >= FORBIDDEN_TRIES)) throw error;
        env.log[failures === 1 ? 'warn' : 'debug']('failed to report an image pull: retrying', { error });
        await sleep(env.clock, backoffMs(failures, limits.reportBackoff, env.random), signal);
      }
    }
  };

  const readPod = async (request: PullRequest, signal: AbortSignal): Promise<Pod | undefined> => {
    const pod = await client.get(pods, { namespace: request.namespace, name: request.name }, { signal });
    return pod.metadata?.uid === request.uid ? pod : undefined;
  };

  return {
    /** One attempt, for a caller that waits for the result. */
    write,
    /** Retries with backoff, for as long as the API server is unreachable or too busy. */
    async report(request: PullRequest, result: PullReport, signal: AbortSignal): Promise<ReportResult> {
      try {
        return await persist(signal, async (): Promise<ReportResult> => {
          const pod = await readPod(request, signal);
          const before = pod && imageReadyOf(pod);
          if (!pod || (before && before.revision !== request.revision)) return { kind: 'needless' };
          return { kind: 'written', pod: await write(request, before?.status, result, signal) };
        });
      } catch (error) {
        if (!isRefused(error)) throw error;
        return error.code === 'NotFound' ? { kind: 'needless' } : { kind: 'refused', message: error.message };
      }
    },
    /** Waits for the API server to answer. Returns false if it does so at once, even with an error. */
    async wasDisconnected(request: PullRequest, signal: AbortSignal): Promise<boolean> {
      let failures = 0;
      await persist(signal, async () => {
        try {
          await readPod(request, signal);
        } catch (error) {
          if (isRefused(error)) return;
          failures += 1;
          throw error;
        }
      });
      return failures > 0;
    },
  };
};
export type ConditionWriter = ReturnType<typeof createConditionWriter>;
