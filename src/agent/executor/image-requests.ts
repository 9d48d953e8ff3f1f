import { isKubeError, type KubeClient, pods } from '../../kube/index.ts';
import { imageReadyOf, imageReadyPatch } from '../../rollout/index.ts';
import { type BackoffOptions, backoffMs, type Env, sleep } from '../../runtime/index.ts';
import type { PodCache } from '../pods/index.ts';
import type { Troubles } from '../troubles.ts';
import type { PodRef, TextResponse } from '../types.ts';
import type { TrackedUpdate } from '../updates/index.ts';
import { createSingleflight } from './concurrency.ts';
import { type LiveReads, patienceOf, type Waiting } from './live-reads.ts';
import { STATUS_PATCH } from './pod-control.ts';
import { disconnected, isRefusal, notComputable, responseTo } from './refusal.ts';

const BACKOFF: BackoffOptions = { baseMs: 1_000, maxMs: 300_000 };

export interface ImageRequestsOptions {
  client: Pick<KubeClient, 'patch'>;
  env: Env;
  liveReads: Pick<LiveReads, 'candidate'>;
  connection: PodCache['connection'];
  /** Where pods that cannot be checked are reported. */
  troubles: Pick<Troubles, 'report' | 'clear'>;
  /** Called when a failed request of `refresh` is due again: nothing else may happen until then. */
  retry: () => void;
  /** Aborts when the agent stops. */
  signal: AbortSignal;
}

/** Requests the images of a new revision before the update, by the condition that the manager's pull pods answer. */
export interface ImageRequests {
  /** For the pod's announced revision. */
  request(ref: PodRef): Promise<TextResponse>;
  /**
   * Requests the images of the target if the pod's condition is for another revision: the owner wants the new one, and no
   * one else requests it.
   */
  refresh(tracked: TrackedUpdate): void;
}

export const createImageRequests = (options: ImageRequestsOptions): ImageRequests => {
  const { client, env, liveReads, connection, troubles, signal } = options;
  const singleflight = createSingleflight<TextResponse>();
  const refreshed = new Set<string>();
  const failures = new Map<string, number>();

  const requestOnce = async (ref: PodRef, name: string, waiting: Waiting): Promise<TextResponse> => {
    const patience = patienceOf(waiting, env.clock.now());
    const candidate = await liveReads.candidate(ref, { images: false, patience, signal });
    if (isRefusal(candidate)) return responseTo(candidate);
    const { pod, announced } = candidate;
    const { revision } = announced;
    const before = imageReadyOf(pod);
    if (before?.status !== 'True' || before.revision !== revision) {
      const sentAt = env.clock.now();
      const at = { uid: pod.metadata?.uid ?? '', status: before?.status };
      const body = imageReadyPatch(at, { reason: 'PullingImage', revision }, sentAt);
      try {
        await client.patch(pods, ref, body, { ...STATUS_PATCH, timeoutMs: patience.writeMs, signal });
        connection.answered();
      } catch (error) {
        signal.throwIfAborted();
        connection.failed(error, sentAt);
        if (!isKubeError(error)) throw error;
        if (error.happened === 'unknown')
          return { status: 504, text: `Requested the images of pod ${name}, but the response was lost: try again` };
        return error.code === 'Transport' || error.code === 'Timeout'
          ? responseTo(disconnected())
          : { status: 502, text: `The images of pod ${name} can not be pulled: ${error.message}` };
      }
    }
    return { status: 200, text: `Image pre-pull requested for pod ${name}` };
  };

  const request = (ref: PodRef, waiting: Waiting): Promise<TextResponse> => {
    const name = `${ref.namespace}/${ref.name}`;
    const send = async (): Promise<TextResponse> => {
      try {
        const response = await requestOnce(ref, name, waiting);
        troubles.clear('check', name);
        return response;
      } catch (error) {
        signal.throwIfAborted();
        return responseTo(notComputable(troubles.report('check', name, error)));
      }
    };
    // A caller doesn't join a request that may take longer.
    return singleflight(`${name} ${waiting}`, send);
  };

  return {
    request: (ref) => request(ref, 'caller'),
    refresh({ pod, record: { announced } }) {
      const key = `${pod?.metadata?.uid}/${announced.revision}`;
      if (!pod || refreshed.has(key) || imageReadyOf(pod)?.revision === announced.revision) return;
      refreshed.add(key);
      const ref = { namespace: pod.metadata?.namespace ?? '', name: pod.metadata?.name ?? '' };
      const send = async (): Promise<void> => {
        try {
          const { status, text } = await request(ref, 'decision');
          if (status === 200) {
            failures.delete(key);
            return;
          }
          env.log.warn('failed to request the images of an approved revision', { text });
        } catch (error) {
          if (!signal.aborted) env.log.error('failed to request images', { error });
        }
        const failed = (failures.get(key) ?? 0) + 1;
        failures.set(key, failed);
        // Other changes do not repeat it earlier.
        await sleep(env.clock, backoffMs(failed, BACKOFF, env.random), signal);
        refreshed.delete(key);
        options.retry();
      };
      send().catch(() => undefined);
    },
  };
};
