import type { ControllerRevision, DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Node, Pod, Taint } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from './audit-record.ts';

/** A pod of the DaemonSet as the cluster last knew it. */
export interface PodState {
  uid: string;
  name: string;
  node: string;
  hash: string;
  deleting: boolean;
  /** It has ended by itself, or was evicted. */
  over: boolean;
  /** Somebody was told to prepare its end: it counts as not ready from then on. */
  preparing: boolean;
  /** The revision that its owner agreed to. */
  approved: string | undefined;
  /** Readiness gates that are shut: the condition Ready follows them with a delay. */
  shut: ReadonlySet<string>;
  /**
   * When it can have become ready at the earliest, by the server's clock; undefined while it is not. Watches tell of a
   * write before it is answered: whoever acts upon one may do so before the server notes its answer.
   */
  readySince: number | undefined;
}

export interface NodeState {
  name: string;
  labels: Record<string, string>;
  taints: readonly Taint[];
  ready: boolean;
  /** Since when `ready` has been what it is. */
  since: number;
  /** It was ready before, and has not always been since. */
  returned: boolean;
}

/** What was the case in the cluster after some record, rebuilt from the records alone. */
export interface ClusterState {
  nodes: Map<string, NodeState>;
  /** By uid; only pods that the DaemonSet owns. */
  pods: Map<string, PodState>;
  /** Since when a node has had no available pod; kept by node name while it is so. */
  downSince: Map<string, number>;
  daemonSet: DaemonSet | undefined;
  /** The DaemonSet is deleted, or being deleted. */
  ended: boolean;
  /** Rises with every change of the template: A, B, A are three. */
  rollout: number;
  /** `controller-revision-hash` of the template's revision, once its controller has recorded it. */
  target: string | undefined;
  /** When that was. */
  targetSince: number;
}

const versionOf = (record: AuditRecord): number =>
  Number((record.response as { metadata?: { resourceVersion?: string } } | undefined)?.metadata?.resourceVersion ?? 0);

/** Successful writes in the order in which the server made them. */
export const inOrder = (records: readonly AuditRecord[]): AuditRecord[] =>
  records
    .filter((record) => record.code >= 200 && record.code < 300 && versionOf(record) > 0)
    .toSorted((a, b) => versionOf(a) - versionOf(b));

const isTrue = (conditions: { type: string; status: string }[] | undefined, type: string): boolean =>
  conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;

/** Where it runs, or is to run. */
export const nodeOf = (pod: Pod): string => {
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const field = terms?.flatMap((term) => term.matchFields ?? []).find(({ key }) => key === 'metadata.name');
  return pod.spec?.nodeName ?? field?.values?.[0] ?? '';
};

const isOwnedBy = (object: { metadata?: Pod['metadata'] }, uid: string | undefined): boolean =>
  uid !== undefined &&
  (object.metadata?.ownerReferences?.some((owner) => owner.controller && owner.uid === uid) ?? false);

export const isAvailable = (state: ClusterState, pod: PodState, at: number): boolean =>
  !pod.deleting &&
  pod.readySince !== undefined &&
  at - pod.readySince >= (state.daemonSet?.spec?.minReadySeconds ?? 0) * 1000;

export const livePods = (state: ClusterState, node: string): PodState[] =>
  [...state.pods.values()].filter((pod) => pod.node === node && !pod.deleting && !pod.over);

/** The node's available pod, were it there. */
export const availablePod = (state: ClusterState, node: string, at: number): PodState | undefined =>
  state.pods.values().find((pod) => pod.node === node && isAvailable(state, pod, at));

const approvalOf = ({ status }: Pod): string | undefined =>
  status?.conditions
    ?.find((condition) => condition.type === 'UpgradeApproved' && condition.status === 'True')
    ?.message?.replace('controllerrevision: ', '');

const shutGates = ({ spec, status }: Pod): ReadonlySet<string> => {
  const gates = new Set(spec?.readinessGates?.map(({ conditionType }) => conditionType));
  const shut = status?.conditions?.filter((condition) => gates.has(condition.type) && condition.status === 'False');
  return new Set(shut?.map(({ type }) => type));
};

/** Follows one DaemonSet of a group: `apply` each of `inOrder`'s records in turn. */
export const followClusterState = (
  namespace: string,
  name: string,
  daemonSetGroup = 'apps',
): { state: ClusterState; apply: (record: AuditRecord) => void } => {
  const state: ClusterState = {
    nodes: new Map(),
    pods: new Map(),
    downSince: new Map(),
    daemonSet: undefined,
    ended: false,
    rollout: 0,
    target: undefined,
    targetSince: 0,
  };
  let newest = 0;

  const applyNode = (node: Node, at: number, deleted: boolean): void => {
    const key = node.metadata?.name ?? '';
    if (deleted) {
      state.nodes.delete(key);
      return;
    }
    const ready = isTrue(node.status?.conditions, 'Ready');
    const before = state.nodes.get(key);
    const since = before?.ready === ready ? before.since : at;
    const { taints = [] } = node.spec ?? {};
    const returned = before !== undefined && (before.returned || (before.ready && !ready));
    state.nodes.set(key, { name: key, labels: node.metadata?.labels ?? {}, taints, ready, since, returned });
    if (!before) state.downSince.set(key, at);
  };

  const applyPod = (pod: Pod, { receivedAt, answeredAt: at }: AuditRecord): void => {
    const { uid = '', deletionTimestamp, deletionGracePeriodSeconds, finalizers } = pod.metadata ?? {};
    const before = state.pods.get(uid);
    // One whose labels were changed is the DaemonSet's no more, also before it is let go.
    const wanted = Object.entries(state.daemonSet?.spec?.selector?.matchLabels ?? {});
    const fits = wanted.every(([key, value]) => pod.metadata?.labels?.[key] === value);
    const isOwned = fits && isOwnedBy(pod, state.daemonSet?.metadata?.uid);
    if (!isOwned && !before) return;
    const node = nodeOf(pod) || (before?.node ?? '');
    const isGone = deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && !finalizers?.length;
    if (isGone || !isOwned) {
      state.pods.delete(uid);
    } else {
      const shut = shutGates(pod);
      const preparing = pod.metadata?.labels?.['lifecycle.apps.kruise.io/state'] === 'PreparingDelete';
      const ready = isTrue(pod.status?.conditions, 'Ready') && shut.size === 0 && !preparing;
      const phase = pod.status?.phase;
      state.pods.set(uid, {
        uid,
        name: pod.metadata?.name ?? '',
        node,
        hash: pod.metadata?.labels?.['controller-revision-hash'] ?? '',
        deleting: deletionTimestamp !== undefined,
        over: phase === 'Failed' || phase === 'Succeeded',
        preparing,
        approved: approvalOf(pod),
        shut,
        readySince: ready ? (before?.readySince ?? receivedAt) : undefined,
      });
    }
    const up = state.pods
      .values()
      .some((other) => other.node === node && !other.deleting && other.readySince !== undefined);
    if (up) state.downSince.delete(node);
    else if (!state.downSince.has(node)) state.downSince.set(node, at);
  };

  const apply = (record: AuditRecord): void => {
    const { group, resource, verb, response, answeredAt } = record;
    if (group === '' && (resource === 'nodes' || resource === 'nodes/status')) {
      applyNode(response as Node, answeredAt, verb === 'delete');
    } else if (record.namespace !== namespace) {
      return;
    } else if (group === '' && resource.startsWith('pods')) {
      const object = response as Pod & { kind?: string };
      if (object.kind === 'Pod') applyPod(object, record);
    } else if (resource.startsWith('daemonsets')) {
      const daemonSet = response as DaemonSet;
      if (group !== daemonSetGroup || daemonSet.metadata?.name !== name) return;
      state.ended = verb === 'delete' || daemonSet.metadata.deletionTimestamp !== undefined;
      const changed = JSON.stringify(daemonSet.spec?.template) !== JSON.stringify(state.daemonSet?.spec?.template);
      if (changed) {
        state.rollout += 1;
        state.target = undefined;
      }
      state.daemonSet = daemonSet;
    } else if (resource === 'controllerrevisions' && verb !== 'delete') {
      const revision = response as ControllerRevision;
      if (!isOwnedBy(revision, state.daemonSet?.metadata?.uid) || revision.revision < newest) return;
      newest = revision.revision;
      const target = revision.metadata?.labels?.['controller-revision-hash'];
      if (state.target !== target) state.targetSince = answeredAt;
      state.target = target;
    }
  };
  return { state, apply };
};
