import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { controllerRevisions, defineResource, isKubeError, type KubeClient, pods } from '../../kube/index.ts';
import { controllerOf, recordedTemplate, templateDigest } from '../../rollout/index.ts';
import { type Env, errorText } from '../../runtime/index.ts';
import { type DaemonRollout, daemonRolloutApi } from '../../words/index.ts';
import type { PodCache } from '../pods/index.ts';
import type { PodRef } from '../types.ts';
import { daemonSetsAt, isAdvanced, termsOf } from '../updates/index.ts';
import { checkOwner, checkPod, type EligibleCandidate, isTargetOf, nameOf } from './preconditions.ts';
import { disconnected, isRefusal, type Refusal, refuse } from './refusal.ts';

const { group, version, plural, kind } = daemonRolloutApi;
const daemonRollouts = defineResource<DaemonRollout>({ group, version, plural, kind, namespaced: true });

/** Who waits for a request to the API server: a caller of the agent's API, or a decision on disk. */
export type Waiting = 'caller' | 'decision';

/** How long requests to the API server may take. */
export interface Patience {
  /** One read, milliseconds. */
  readMs: number;
  /** All reads together and waiting for other updates, until this time; epoch milliseconds. */
  endsAt: number;
  /** A write without response for this long has an unknown outcome. */
  writeMs: number;
}

/** The API promises its callers a response within 5 s, even while the API server is silent. */
const CALLER_READS_MS = 4_500;
const CALLER_WRITE_MS = 10_000;
/**
 * Cellular links have round trips of 3 s and lose packets: a request that has to connect first takes three round trips, and a
 * lost packet is sent again after about as long.
 */
const DECISION_MS = 30_000;

export const patienceOf = (waiting: Waiting, now: number): Patience =>
  waiting === 'caller'
    ? { readMs: CALLER_READS_MS, endsAt: now + CALLER_READS_MS, writeMs: CALLER_WRITE_MS }
    : { readMs: DECISION_MS, endsAt: Number.POSITIVE_INFINITY, writeMs: DECISION_MS };

export interface LiveReadsOptions {
  client: KubeClient;
  env: Env;
  node: string;
  connection: PodCache['connection'];
  /** Pods of other namespaces are treated as missing. */
  namespaces?: readonly string[];
}

/** Reads from the API server what an update depends on: a cache may not have seen a rollback yet. */
export interface LiveReads {
  /** The pod if it can be updated, otherwise the first refusal. */
  candidate(
    ref: PodRef,
    options: { images: boolean; patience: Patience; signal: AbortSignal },
  ): Promise<EligibleCandidate | Refusal>;
  /** The current pod; a refusal if it can't be read. */
  pod(ref: PodRef, patience: Patience, signal: AbortSignal): Promise<Pod | Refusal>;
}

/** The template changed after the announcement: the new pod would have a revision that the owner did not decide on. */
const outdated = (pod: Pod, revision: string): Refusal =>
  refuse(
    'Superseded',
    403,
    `Pod ${nameOf(pod)} can not be updated: the template of its DaemonSet has changed since ${revision} was announced`,
  );

export const createLiveReads = ({ client, env, node, connection, namespaces }: LiveReadsOptions): LiveReads => {
  const read = async <T>(
    what: string,
    { readMs, endsAt }: Patience,
    signal: AbortSignal,
    call: (options: { timeoutMs: number; signal: AbortSignal }) => Promise<T>,
  ): Promise<T | 'missing' | Refusal> => {
    const sentAt = env.clock.now();
    const timeoutMs = Math.min(readMs, endsAt - sentAt);
    if (timeoutMs <= 0) return disconnected();
    try {
      const found = await call({ timeoutMs, signal });
      connection.answered();
      return found;
    } catch (error) {
      signal.throwIfAborted();
      if (!isKubeError(error)) throw error;
      connection.failed(error, sentAt);
      if (error.code === 'NotFound') return 'missing';
      env.log.warn('a read for an update failed', { what, error });
      if (error.code === 'Transport' || error.code === 'Timeout') return disconnected();
      if (error.status >= 500 || error.code === 'TooManyRequests')
        return refuse('Disconnected', 503, `The API server is unavailable, nothing was sent: ${errorText(error)}`);
      return refuse('Unreadable', 502, `The API server refused to return ${what}: ${errorText(error)}`);
    }
  };

  const readPod = async (ref: PodRef, patience: Patience, signal: AbortSignal): Promise<Pod | Refusal> => {
    const missing = refuse('NotFound', 404, `Pod ${ref.namespace}/${ref.name} is not found`);
    if (namespaces && !namespaces.includes(ref.namespace)) return missing;
    const pod = await read('the pod', patience, signal, (options) => client.get(pods, ref, options));
    return pod === 'missing' ? missing : pod;
  };

  return {
    pod: readPod,
    async candidate(ref, { images, patience, signal }) {
      const pod = await readPod(ref, patience, signal);
      if (isRefusal(pod)) return pod;
      const candidate = checkPod(pod, node, { images });
      if (isRefusal(candidate)) return candidate;
      const { owner } = candidate;
      const at = { namespace: owner.namespace, name: owner.daemonSet };
      // The names of rollouts of Advanced DaemonSets include the API group.
      const rolloutAt = isAdvanced(owner) ? { ...at, name: `${owner.daemonSet}.apps.kruise.io` } : at;
      const [daemonSet, readRollout] = await Promise.all([
        read('the DaemonSet', patience, signal, (options) => client.get(daemonSetsAt(owner.apiVersion), at, options)),
        read('the rollout', patience, signal, (options) => client.get(daemonRollouts, rolloutAt, options)),
      ]);
      if (daemonSet !== 'missing' && isRefusal(daemonSet)) return daemonSet;
      const isUnreadable = readRollout !== 'missing' && isRefusal(readRollout);
      // Without permission to read rollouts, the pod's condition still shows whether the rollout is halted.
      if (isUnreadable && readRollout.code !== 'Unreadable') return readRollout;
      // One that another DaemonSet owns says nothing about this one.
      const isOwn = readRollout !== 'missing' && !isUnreadable && controllerOf(readRollout)?.uid === owner.uid;
      const rollout = isOwn ? readRollout : undefined;
      const terms = daemonSet === 'missing' ? undefined : termsOf(daemonSet, owner);
      const eligible = checkOwner(candidate, terms, rollout);
      // For an Advanced DaemonSet, the manager updates, and only to its current target.
      if (daemonSet === 'missing' || isRefusal(eligible) || isAdvanced(owner)) return eligible;
      const { revision } = candidate.announced;
      if (isTargetOf(daemonSet, rollout, revision)) return eligible;
      const revisionAt = { ...at, name: `${owner.daemonSet}-${revision}` };
      const recorded = await read('the revision', patience, signal, (options) =>
        client.get(controllerRevisions, revisionAt, options),
      );
      if (recorded !== 'missing' && isRefusal(recorded)) return recorded;
      const wanted = templateDigest(daemonSet.spec?.template);
      return recorded !== 'missing' && templateDigest(recordedTemplate(recorded)) === wanted
        ? eligible
        : outdated(pod, revision);
    },
  };
};
