import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, type KubeClient, pods } from '../../kube/index.ts';
import type { Env } from '../../runtime/index.ts';
import type { PodCache } from '../pods/index.ts';
import type { DecisionAct } from '../types.ts';
import { isTerminating, revisionOf } from '../updates/index.ts';
import { approvalPatch, fencePatch, isApproved } from './approval.ts';

/** What is sent and not answered for so long has an outcome that is not known. */
export const WRITE_TIMEOUT_MS = 10_000;

/** What came of an act that was sent once. */
export type WriteResult =
  | { kind: 'done' }
  /** The pod was gone before. */
  | { kind: 'gone' }
  /** The pod has changed since it was read, and nothing was done. */
  | { kind: 'changed' }
  /** Nothing was done; `message` is the API server's. */
  | { kind: 'refused'; message: string }
  /** Nothing left this machine. */
  | { kind: 'unsent'; message: string }
  | { kind: 'unknown'; message: string };

/** What became of an act whose answer was lost. `not-done` is certain, also for the time to come. */
export type WriteOutcome = 'done' | 'not-done' | 'unknown';

export interface PodControl {
  send(kind: DecisionAct['kind'], pod: Pod, revision: string, signal: AbortSignal): Promise<WriteResult>;
  /** Finds out, if need be by making sure that it can no longer happen. */
  resolveLostWrite(namespace: string, act: DecisionAct, signal: AbortSignal): Promise<WriteOutcome>;
}

export interface PodControlOptions {
  client: Pick<KubeClient, 'get' | 'delete' | 'patch'>;
  env: Env;
  connection: PodCache['connection'];
}

/**
 * API servers end a request after a minute. Where the pod must not be fenced, this long after an act was sent an
 * unchanged pod tells that it never arrived; and should it arrive all the same, the pod's UID is in it.
 */
const EXPIRED_MS = 300_000;
const PATCH = { type: 'strategic', subresource: 'status', fieldManager: 'edgeset-agent' } as const;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const createPodControl = ({ client, env, connection }: PodControlOptions): PodControl => {
  const hear = (error: unknown): void => {
    if (isKubeError(error, 'Transport', 'Timeout')) connection.unanswered();
    else if (isKubeError(error)) connection.answered();
  };

  const fence = async (namespace: string, act: DecisionAct, signal: AbortSignal): Promise<WriteOutcome> => {
    const body = fencePatch(act.podUid, act.toRevision, env.clock.now());
    try {
      const ref = { namespace, name: act.pod };
      const pod = await client.patch(pods, ref, body, { ...PATCH, timeoutMs: WRITE_TIMEOUT_MS, signal });
      connection.answered();
      if (isTerminating(pod) || act.kind === 'approve') return 'done';
      return pod.metadata?.resourceVersion === act.podResourceVersion ? 'unknown' : 'not-done';
    } catch (error) {
      signal.throwIfAborted();
      hear(error);
      // Another pod has the name, or it is gone.
      if (isKubeError(error, 'NotFound', 'Conflict')) return 'unknown';
      const hasExpired = env.clock.now() - Date.parse(act.startedAt) >= EXPIRED_MS;
      if (isKubeError(error, 'Forbidden', 'Invalid', 'BadRequest') && hasExpired) return 'not-done';
      env.log.warn('an act whose answer was lost could not be called off', { pod: `${namespace}/${act.pod}`, error });
      return 'unknown';
    }
  };

  return {
    async send(kind, pod, revision, signal) {
      const { namespace = '', name = '', uid, resourceVersion } = pod.metadata ?? {};
      const ref = { namespace, name };
      // Without both, another pod or another state of this one could be met.
      if (!uid || !resourceVersion) return { kind: 'refused', message: 'the pod was read without its identity' };
      const call = { timeoutMs: WRITE_TIMEOUT_MS, signal };
      try {
        if (kind === 'delete') await client.delete(pods, ref, { preconditions: { uid, resourceVersion }, ...call });
        else await client.patch(pods, ref, approvalPatch(pod, revision, env.clock.now()), { ...PATCH, ...call });
        connection.answered();
        return { kind: 'done' };
      } catch (error) {
        hear(error);
        const message = textOf(error);
        if (isKubeError(error, 'NotFound')) return { kind: 'gone' };
        if (isKubeError(error, 'Conflict')) return { kind: 'changed' };
        if (!isKubeError(error) || error.happened === 'unknown') return { kind: 'unknown', message };
        return error.status === 0 ? { kind: 'unsent', message } : { kind: 'refused', message };
      }
    },

    async resolveLostWrite(namespace, act, signal) {
      let pod: Pod;
      try {
        pod = await client.get(pods, { namespace, name: act.pod }, { timeoutMs: WRITE_TIMEOUT_MS, signal });
        connection.answered();
      } catch (error) {
        signal.throwIfAborted();
        hear(error);
        return isKubeError(error, 'NotFound') ? 'done' : 'unknown';
      }
      if (pod.metadata?.uid !== act.podUid || isTerminating(pod)) return 'done';
      // What was approved may be carried out by now, in the same pod, and its approval taken off again.
      const carriedOut = isApproved(pod, act.toRevision) || revisionOf(pod) === act.toRevision;
      if (act.kind === 'approve' && carriedOut) return 'done';
      // The act is bound to the version that was read: of another version the API server refuses it whenever it arrives.
      const hasMovedOn =
        act.podResourceVersion !== undefined && pod.metadata.resourceVersion !== act.podResourceVersion;
      return hasMovedOn ? 'not-done' : fence(namespace, act, signal);
    },
  };
};
