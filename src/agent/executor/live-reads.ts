import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { controllerRevisions, defineResource, isKubeError, type KubeClient, pods } from '../../kube/index.ts';
import { type DaemonRollout, daemonRolloutApi, recordedTemplate, templateDigest } from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import type { PodCache } from '../pods/index.ts';
import type { PodRef } from '../types.ts';
import { daemonSetsAt, isAdvanced, termsOf } from '../updates/index.ts';
import { checkOwner, checkPod, type EligibleCandidate, isRefusal, isTargetOf, nameOf } from './preconditions.ts';
import { disconnected, type Refusal, refuse } from './refusal.ts';

const { group, version, plural, kind } = daemonRolloutApi;
const daemonRollouts = defineResource<DaemonRollout>({ group, version, plural, kind, namespaced: true });

/** For all reads of one act together: the promise is an answer within 5 s, also of a server that says nothing. */
export const READ_BUDGET_MS = 4_500;

export interface LiveReadsOptions {
  client: KubeClient;
  env: Env;
  node: string;
  connection: PodCache['connection'];
  /** Pods of others do not exist for this agent. */
  namespaces?: readonly string[];
}

/** Reads what an act is decided on from the API server: a cache may be older than a revert. */
export interface LiveReads {
  /** The pod that may be updated, or the first thing that speaks against it. `endsAt`: until when reads may last. */
  candidate(
    ref: PodRef,
    options: { images: boolean; endsAt: number; signal: AbortSignal },
  ): Promise<EligibleCandidate | Refusal>;
  /** The pod as it is; a refusal when that cannot be known. */
  pod(ref: PodRef, endsAt: number, signal: AbortSignal): Promise<Pod | Refusal>;
}

/** What is announced may be older than what its DaemonSet asks for: the new pod would be of a version that nobody decided on. */
const outdated = (pod: Pod, revision: string): Refusal =>
  refuse(
    'Superseded',
    403,
    `Pod ${nameOf(pod)} can not be updated: its DaemonSet asks for another version than ${revision}, which was announced`,
  );

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const createLiveReads = ({ client, env, node, connection, namespaces }: LiveReadsOptions): LiveReads => {
  /** Runs one read; whatever it met is told to those who want to know of the link. */
  const read = async <T>(
    what: string,
    endsAt: number,
    signal: AbortSignal,
    call: (options: { timeoutMs: number; signal: AbortSignal }) => Promise<T>,
  ): Promise<T | 'missing' | Refusal> => {
    const timeoutMs = endsAt - env.clock.now();
    if (timeoutMs <= 0) return disconnected();
    try {
      const found = await call({ timeoutMs, signal });
      connection.answered();
      return found;
    } catch (error) {
      signal.throwIfAborted();
      if (!isKubeError(error)) throw error;
      if (error.code === 'NotFound') {
        connection.answered();
        return 'missing';
      }
      env.log.warn('a read for an update failed', { what, error });
      if (error.code === 'Transport' || error.code === 'Timeout') {
        connection.unanswered();
        return disconnected();
      }
      if (error.status >= 500 || error.code === 'TooManyRequests')
        return refuse('Disconnected', 503, `The API server cannot answer now, nothing was sent: ${textOf(error)}`);
      return refuse('Unreadable', 502, `The API server does not give ${what}: ${textOf(error)}`);
    }
  };

  const readPod = async (ref: PodRef, endsAt: number, signal: AbortSignal): Promise<Pod | Refusal> => {
    const missing = refuse('NotFound', 404, `Pod ${ref.namespace}/${ref.name} is not found`);
    if (namespaces && !namespaces.includes(ref.namespace)) return missing;
    const pod = await read('the pod', endsAt, signal, (options) => client.get(pods, ref, options));
    return pod === 'missing' ? missing : pod;
  };

  return {
    pod: readPod,
    async candidate(ref, { images, endsAt, signal }) {
      const pod = await readPod(ref, endsAt, signal);
      if (isRefusal(pod)) return pod;
      const candidate = checkPod(pod, node, { images });
      if (isRefusal(candidate)) return candidate;
      const { owner } = candidate;
      const at = { namespace: owner.namespace, name: owner.daemonSet };
      // The manager names the rollouts of the other kind by its group too.
      const rolloutAt = isAdvanced(owner) ? { ...at, name: `${owner.daemonSet}.apps.kruise.io` } : at;
      const [daemonSet, rollout] = await Promise.all([
        read('the DaemonSet', endsAt, signal, (options) => client.get(daemonSetsAt(owner.apiVersion), at, options)),
        read('the rollout', endsAt, signal, (options) => client.get(daemonRollouts, rolloutAt, options)),
      ]);
      if (daemonSet !== 'missing' && isRefusal(daemonSet)) return daemonSet;
      // Whoever may not read rollouts still has the pod's own word on a halt.
      const isUnreadable = rollout !== 'missing' && isRefusal(rollout) && rollout.code !== 'Unreadable';
      if (isUnreadable) return rollout;
      const terms = daemonSet === 'missing' ? undefined : termsOf(daemonSet, owner);
      const told = rollout === 'missing' || isRefusal(rollout) ? undefined : rollout;
      const cleared = checkOwner(candidate, terms, told);
      // Of the other kind the manager acts, and on what is its target alone.
      if (daemonSet === 'missing' || isRefusal(cleared) || isAdvanced(owner)) return cleared;
      const { revision } = candidate.announced;
      if (isTargetOf(daemonSet, told, revision)) return cleared;
      const revisionAt = { ...at, name: `${owner.daemonSet}-${revision}` };
      const recorded = await read('the revision', endsAt, signal, (options) =>
        client.get(controllerRevisions, revisionAt, options),
      );
      if (recorded !== 'missing' && isRefusal(recorded)) return recorded;
      const wanted = templateDigest(daemonSet.spec?.template);
      return recorded !== 'missing' && templateDigest(recordedTemplate(recorded)) === wanted
        ? cleared
        : outdated(pod, revision);
    },
  };
};
