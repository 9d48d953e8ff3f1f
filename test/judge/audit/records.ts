import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { isAvailable as isAvailableAt } from '../../invariants/index.ts';
import {
  type ClusterState,
  type Executed,
  followClusterState,
  livePods,
  type PodState,
} from '../state/cluster-state.ts';
import { followUpdates } from '../state/follow-updates.ts';
import type { AuditRecord } from './audit-record.ts';

interface Stored {
  kind?: string;
  metadata?: ObjectMeta;
}

const versionOf = ({ response }: AuditRecord): number =>
  Number((response as Stored | undefined)?.metadata?.resourceVersion ?? 0);

/** Successful writes in the order in which the server made them. A dry run writes nothing. */
export const inOrder = (records: readonly AuditRecord[]): AuditRecord[] =>
  records
    .filter((record) => !record.dryRun && record.code >= 200 && record.code < 300 && versionOf(record) > 0)
    .toSorted((a, b) => versionOf(a) - versionOf(b));

/** The delete of a pod is answered while its kubelet has yet to end it. */
const isGone = (verb: AuditRecord['verb'], plural: string, { metadata = {} }: Stored): boolean => {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadata;
  if (plural !== 'pods') return verb === 'delete' && !(deletionTimestamp && finalizers?.length);
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && !finalizers?.length;
};

const isPlan = ({ group, resource }: AuditRecord): boolean =>
  group === 'edgeset.io' && (resource === 'rolloutplans' || resource === 'clusterrolloutplans');

/**
 * As `inOrder`, with deletes of rollout plans that it leaves out: the API server answers the delete of a custom resource without the
 * object. They come before what arrived once they were answered.
 */
export const withPlanDeletes = (records: readonly AuditRecord[]): AuditRecord[] => {
  const deletes = records
    .filter(
      (each) => isPlan(each) && each.verb === 'delete' && !each.dryRun && each.code < 300 && versionOf(each) === 0,
    )
    .toSorted((a, b) => b.answeredAt - a.answeredAt);
  const before = ({ receivedAt }: AuditRecord): AuditRecord[] => {
    const first = deletes.findIndex(({ answeredAt }) => answeredAt <= receivedAt);
    return first === -1 ? [] : deletes.splice(first).toReversed();
  };
  return inOrder(records).flatMap((record) => [...before(record), record]);
};

/** What a record did to an object of the cluster; undefined: nothing to an object of the namespace, to a node, or to a plan. */
export const executedIn = (record: AuditRecord, namespace: string): Executed | undefined => {
  const { group, resource, verb, namespace: of, name, response, user, receivedAt, answeredAt } = record;
  const [plural = '', subresource = ''] = resource.split('/');
  const object = versionOf(record) > 0 ? (response as Stored) : { metadata: { name, namespace: of } };
  const concerns =
    plural === 'nodes' ? ['', 'status'].includes(subresource) : plural === 'clusterrolloutplans' || of === namespace;
  // The answer to an eviction or a binding is no pod.
  if (!concerns || (plural === 'pods' && object.kind !== 'Pod')) return undefined;
  const type = isGone(verb, plural, object) ? 'DELETED' : verb === 'create' ? 'ADDED' : 'MODIFIED';
  return { type, resource: { group, plural }, object, by: user, arrivedAt: receivedAt, answeredAt };
};

/** Follows one DaemonSet by the log: call `at` and then `apply` with each record of `inOrder`. */
export const followRecords = (namespace: string, name: string, group = 'apps') => {
  /** Since when a node has had no ready pod, by node. */
  const downSince = new Map<string, number>();
  let record: Pick<AuditRecord, 'receivedAt' | 'answeredAt'> = { receivedAt: 0, answeredAt: 0 };
  const noteDown = (node: string): void => {
    const isUp = state.podsOn(node).some(({ terminating, readySince }) => !terminating && readySince !== undefined);
    if (isUp || !state.nodes.has(node)) downSince.delete(node);
    else if (!downSince.has(node)) downSince.set(node, record.answeredAt);
  };
  const onNodeChange = (node: string): void => {
    noteDown(node);
    updates.follow(node);
  };
  const { state, apply } = followClusterState(
    { group, name, namespace },
    { targetFrom: 'recorded revision', onNodeChange },
  );
  const updates = followUpdates({ state, now: () => record.receivedAt, sees: 'log' });
  return {
    state,
    downSince: downSince as ReadonlyMap<string, number>,
    updates,
    /** A record is next. A node that was available only for a moment has completed its update all the same. */
    at: (next: AuditRecord): void => {
      record = next;
      updates.advance();
    },
    apply: (next: AuditRecord): void => {
      record = next;
      const executed = executedIn(next, namespace);
      if (executed) apply(executed);
    },
  };
};

/** By the time of a record. A pod whose hook has its turn is about to go. */
export const isAvailable = ({ daemonSet }: ClusterState, pod: PodState, at: number): boolean =>
  !pod.preparing && isAvailableAt(pod, (daemonSet?.spec?.minReadySeconds ?? 0) * 1000, at);

/** The pod is available, or was until `withinMs` ago: a writer may not know yet that it no longer is. */
export const wasAvailable = (state: ClusterState, pod: PodState, at: number, withinMs: number): boolean => {
  const { lastReady } = pod;
  if (isAvailable(state, pod, at)) return true;
  if (pod.terminating || !lastReady || at - lastReady.until > withinMs) return false;
  return isAvailable(state, { ...pod, readySince: lastReady.since }, lastReady.until);
};

export const availablePod = (state: ClusterState, node: string, at: number): PodState | undefined =>
  livePods(state, node).find((pod) => isAvailable(state, pod, at));
