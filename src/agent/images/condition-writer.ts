import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, type KubeClient, type KubeError, pods } from '../../kube/index.ts';
import { type ImageReadyReason, imageReadyOf, imageReadyPatch } from '../../rollout/index.ts';
import { backoffMs, type Env, sleep } from '../../runtime/index.ts';
import type { PullLimits } from './limits.ts';

const WRITE_MS = 10_000;
const FIELD_MANAGER = 'edgeset-agent';
/** A right that was just granted takes some seconds to reach every API server; then `Forbidden` is the last word. */
const FORBIDDEN_TRIES = 6;

export interface Report {
  reason: ImageReadyReason;
  cause?: string;
}

/** A pod, and the revision whose images were asked for it. */
export interface PullRequest {
  namespace: string;
  name: string;
  uid: string;
  revision: string;
}

/** The API server refuses it for what it is: asked again, it would say the same. */
export const isRefused = (error: unknown): error is KubeError =>
  isKubeError(error, 'BadRequest', 'Forbidden', 'NotFound', 'Invalid');

/** What is left of a report: nothing when it was written, or nobody waits for it any more. */
export type ReportResult = { kind: 'written'; pod: Pod } | { kind: 'needless' } | { kind: 'refused'; message: string };

/**
 * Tells the API server of a pull, on the pod that it was asked for and on no other of the same name. `byAgent`: it is
 * made here, and the manager need not make it.
 */
export const createConditionWriter = (
  client: KubeClient,
  env: Env,
  limits: Pick<PullLimits, 'reportBackoff'>,
  byAgent: boolean,
) => {
  const options = (signal: AbortSignal) => ({ signal, timeoutMs: WRITE_MS });

  const write = (asked: PullRequest, before: string | undefined, report: Report, signal: AbortSignal): Promise<Pod> =>
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

  /** Calls until it succeeds, or the API server refuses it for good, which it throws. */
  const persist = async <T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> => {
    for (let failures = 1; ; failures += 1) {
      try {
        return await call();
      } catch (error) {
        signal.throwIfAborted();
        if (isRefused(error) && (error.code !== 'Forbidden' || failures >= FORBIDDEN_TRIES)) throw error;
        env.log[failures === 1 ? 'warn' : 'debug']('an image pull cannot be reported yet', { error });
        await sleep(env.clock, backoffMs(failures, limits.reportBackoff, env.random), signal);
      }
    }
  };

  const readPod = async (asked: PullRequest, signal: AbortSignal): Promise<Pod | undefined> => {
    const pod = await client.get(pods, { namespace: asked.namespace, name: asked.name }, options(signal));
    return pod.metadata?.uid === asked.uid ? pod : undefined;
  };

  return {
    /** One attempt, for a caller that waits for its outcome. */
    write,
    /**
     * Until it is written, or refused for good; a pod that is gone, or asked for another revision since, needs no report.
     * An API server that cannot answer, or is too busy, is waited for without end: that is what the backoff is for.
     */
    async settle(asked: PullRequest, report: Report, signal: AbortSignal): Promise<ReportResult> {
      try {
        return await persist(signal, async (): Promise<ReportResult> => {
          const pod = await readPod(asked, signal);
          const before = pod && imageReadyOf(pod);
          if (!pod || (before && before.revision !== asked.revision)) return { kind: 'needless' };
          return { kind: 'written', pod: await write(asked, before?.status, report, signal) };
        });
      } catch (error) {
        if (!isRefused(error)) throw error;
        return error.code === 'NotFound' ? { kind: 'needless' } : { kind: 'refused', message: error.message };
      }
    },
    /** False when the API server answers at once, also with a refusal; true after a time in which it did not. */
    async wasDisconnected(asked: PullRequest, signal: AbortSignal): Promise<boolean> {
      let failures = 0;
      await persist(signal, async () => {
        try {
          await readPod(asked, signal);
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
