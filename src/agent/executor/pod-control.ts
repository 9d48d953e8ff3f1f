import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { type CallOptions, isKubeError, type KubeClient, pods } from '../../kube/index.ts';
import { type Env, errorText } from '../../runtime/index.ts';
import type { PodCache } from '../pods/index.ts';
import type { DecisionAct } from '../types.ts';
import { isTerminating, revisionOf } from '../updates/index.ts';
import { approvalPatch, fencePatch, isApproved, withdrawalPatch } from './approval.ts';

export type WriteResult =
  | { kind: 'done' }
  /** The pod was already gone. */
  | { kind: 'gone' }
  /** The pod has changed since it was read; nothing was done. */
  | { kind: 'changed' }
  /** Nothing was done; `message` is from the API server. */
  | { kind: 'refused'; message: string }
  /** The request was not sent. */
  | { kind: 'unsent'; message: string }
  | { kind: 'unknown'; message: string };

/** The outcome of a write whose response was lost. `not-done` is final: the write can't happen later either. */
export type WriteOutcome = 'done' | 'not-done' | 'unknown';

/** The writes that update a pod: delete it, or record the owner's approval for the manager. */
export interface PodControl {
  /** A write without response for `timeoutMs` has an unknown outcome. */
  send(
    kind: DecisionAct['kind'],
    pod: Pod,
    revision: string,
    call: Required<Pick<CallOptions, 'signal' | 'timeoutMs'>>,
  ): Promise<WriteResult>;
  /** Determines the outcome of a write, if necessary by making it impossible. */
  resolveLostWrite(namespace: string, act: DecisionAct, signal: AbortSignal): Promise<WriteOutcome>;
}

export interface PodControlOptions {
  client: Pick<KubeClient, 'get' | 'delete' | 'patch'>;
  env: Env;
  connection: PodCache['connection'];
}

/**
 * API servers end a request after a minute. Where the agent isn't allowed to fence the pod, an unchanged pod shows this long
 * after the write that it never arrived; if it arrives even later, its UID still limits it to this pod.
 */
const EXPIRED_MS = 300_000;
/** How the agent writes conditions of pods. */
export const STATUS_PATCH = { type: 'strategic', subresource: 'status', fieldManager: 'edgeset-agent' } as const;

export const createPodControl = ({ client, env, connection }: PodControlOptions): PodControl => {
  /** `read`: the pod as it was before the write. */
  const fence = async (namespace: string, act: DecisionAct, read: Pod, signal: AbortSignal): Promise<WriteOutcome> => {
    const sentAt = env.clock.now();
    const body =
      act.kind === 'approve'
        ? withdrawalPatch(read, act.toRevision, sentAt)
        : fencePatch(act.podUid, act.toRevision, sentAt);
    try {
      const ref = { namespace, name: act.pod };
      const pod = await client.patch(pods, ref, body, { ...STATUS_PATCH, signal });
      connection.answered();
      if (isTerminating(pod)) return 'done';
      return pod.metadata?.resourceVersion === act.podResourceVersion ? 'unknown' : 'not-done';
    } catch (error) {
      signal.throwIfAborted();
      connection.failed(error, sentAt);
      // Another pod has the name, the pod is gone, or an approval has arrived meanwhile: the next read shows it.
      if (isKubeError(error, 'NotFound', 'Conflict')) return 'unknown';
      const hasExpired = env.clock.now() - Date.parse(act.startedAt) >= EXPIRED_MS;
      if (isKubeError(error, 'Forbidden', 'Invalid', 'BadRequest') && hasExpired) return 'not-done';
      env.log.warn('failed to fence a pod after a write without response', { pod: `${namespace}/${act.pod}`, error });
      return 'unknown';
    }
  };

  return {
    async send(kind, pod, revision, call) {
      const { namespace = '', name = '', uid, resourceVersion } = pod.metadata ?? {};
      const ref = { namespace, name };
      // Without both, the write could affect another pod or another state of this one.
      if (!uid || !resourceVersion) return { kind: 'refused', message: 'the pod has no UID or resourceVersion' };
      const sentAt = env.clock.now();
      try {
        if (kind === 'delete') await client.delete(pods, ref, { preconditions: { uid, resourceVersion }, ...call });
        else await client.patch(pods, ref, approvalPatch(pod, revision, sentAt), { ...STATUS_PATCH, ...call });
        connection.answered();
        return { kind: 'done' };
      } catch (error) {
        connection.failed(error, sentAt);
        const message = errorText(error);
        if (isKubeError(error, 'NotFound')) return { kind: 'gone' };
        if (isKubeError(error, 'Conflict')) return { kind: 'changed' };
        if (!isKubeError(error) || error.happened === 'unknown') return { kind: 'unknown', message };
        return error.status === 0 ? { kind: 'unsent', message } : { kind: 'refused', message };
      }
    },

    async resolveLostWrite(namespace, act, signal) {
      const sentAt = env.clock.now();
      let pod: Pod;
      try {
        pod = await client.get(pods, { namespace, name: act.pod }, { signal });
        connection.answered();
      } catch (error) {
        signal.throwIfAborted();
        connection.failed(error, sentAt);
        return isKubeError(error, 'NotFound') ? 'done' : 'unknown';
      }
      if (pod.metadata?.uid !== act.podUid || isTerminating(pod)) return 'done';
      // The manager may have updated the pod in place already and removed the approval.
      const isUpdated = isApproved(pod, act.toRevision) || revisionOf(pod) === act.toRevision;
      if (act.kind === 'approve' && isUpdated) return 'done';
      // The write is bound to the resourceVersion that was read: for any other one, the API server rejects it.
      const hasChanged =
        act.podResourceVersion !== undefined && pod.metadata.resourceVersion !== act.podResourceVersion;
      return hasChanged ? 'not-done' : fence(namespace, act, pod, signal);
    },
  };
};
