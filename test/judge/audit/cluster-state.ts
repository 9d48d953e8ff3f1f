import type { ControllerRevision, DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import {
  hasCondition,
  hashIn,
  hasSameTemplate,
  isAvailable as isAvailableAt,
  isControlledBy,
  isLive,
  isPreparingDelete,
  mayRunOn,
  type NodeFacts,
  type PodFacts,
  podFactsOf,
} from '../../invariants/index.ts';
import type { AuditRecord } from './audit-record.ts';

/**
 * A pod of the DaemonSet as the cluster last knew it. `readySince` is the earliest time at which it can have become ready, by
 * the server's clock: a watch may deliver a write before the server logs its response.
 */
export interface PodState extends PodFacts {
  /** The revision that its owner agreed to. */
  approved: string | undefined;
  /** Readiness gates that are closed: the condition Ready follows them with a delay. */
  closedGates: ReadonlySet<string>;
  /** The last period in which it was ready that has ended. */
  lastReady: { since: number; until: number } | undefined;
}

export interface NodeState extends NodeFacts {
  ready: boolean;
  /** Since when `ready` has been what it is. */
  since: number;
  /** It was ready before, and has not always been since. */
  returned: boolean;
  annotations: Readonly<Record<string, string>>;
}

/** The state of the cluster after a record, rebuilt from the records alone. */
export interface ClusterState {
  nodes: Map<string, NodeState>;
  /** By UID; only pods that the DaemonSet owns. */
  pods: Map<string, PodState>;
  /** Since when a node has had no available pod, by node. */
  downSince: Map<string, number>;
  daemonSet: DaemonSet | undefined;
  /** The DaemonSet is deleted, or being deleted. */
  deleted: boolean;
  /** Increases with every change of the template: A, B, A are three rollouts. */
  rollout: number;
  /** `controller-revision-hash` of the template's revision, once its controller has recorded it. */
  target: string | undefined;
  /** When that was. */
  targetSince: number;
}

const versionOf = (record: AuditRecord): number =>
  Number((record.response as { metadata?: { resourceVersion?: string } } | undefined)?.metadata?.resourceVersion ?? 0);

/** Successful writes in the order in which the server made them. A dry run writes nothing. */
export const inOrder = (records: readonly AuditRecord[]): AuditRecord[] =>
  records
    .filter((record) => !record.dryRun && record.code >= 200 && record.code < 300 && versionOf(record) > 0)
    .toSorted((a, b) => versionOf(a) - versionOf(b));

export const isAvailable = (state: ClusterState, pod: PodState, at: number): boolean =>
  isAvailableAt(pod, (state.daemonSet?.spec?.minReadySeconds ?? 0) * 1000, at);

/** The pod is available, or was until `withinMs` ago: a writer may not know yet that it no longer is. */
export const wasAvailable = (state: ClusterState, pod: PodState, at: number, withinMs: number): boolean => {
  const { lastReady } = pod;
  if (isAvailable(state, pod, at)) return true;
  if (pod.terminating || !lastReady || at - lastReady.until > withinMs) return false;
  return isAvailable(state, { ...pod, readySince: lastReady.since }, lastReady.until);
};

export const livePods = (state: ClusterState, node: string): PodState[] =>
  [...state.pods.values()].filter((pod) => pod.node === node && isLive(pod));

/** The node's available pod, if it has one. */
export const availablePod = (state: ClusterState, node: string, at: number): PodState | undefined =>
  state.pods.values().find((pod) => pod.node === node && isAvailable(state, pod, at));

/** Whether a pod of the DaemonSet may run on the node. */
export const mayHavePod = (state: ClusterState, node: NodeState, how: 'to stay' | 'to begin'): boolean =>
  mayRunOn(node, state.daemonSet?.spec?.template.spec, how);

/** Nodes that are to have a pod, or may keep the one they have. */
export const eligibleNodes = (state: ClusterState): NodeState[] => {
  const occupied = new Set([...state.pods.values()].map(({ node }) => node));
  return [...state.nodes.values()].filter((node) =>
    mayHavePod(state, node, occupied.has(node.name) ? 'to stay' : 'to begin'),
  );
};

const approvalOf = ({ status }: Pod): string | undefined =>
  status?.conditions
    ?.find((condition) => condition.type === 'UpgradeApproved' && condition.status === 'True')
    ?.message?.replace('controllerrevision: ', '');

const closedGates = ({ spec, status }: Pod): ReadonlySet<string> => {
  const gates = new Set(spec?.readinessGates?.map(({ conditionType }) => conditionType));
  const closed = status?.conditions?.filter((condition) => gates.has(condition.type) && condition.status === 'False');
  return new Set(closed?.map(({ type }) => type));
};

/** Follows one DaemonSet: call `apply` with each record of `inOrder`. */
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
    deleted: false,
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
    const ready = hasCondition(node, 'Ready');
    const before = state.nodes.get(key);
    const since = before?.ready === ready ? before.since : at;
    const { taints = [] } = node.spec ?? {};
    const returned = before !== undefined && (before.returned || (before.ready && !ready));
    const { labels = {}, annotations = {} } = node.metadata ?? {};
    state.nodes.set(key, { name: key, labels, annotations, taints, ready, since, returned });
    if (!before) state.downSince.set(key, at);
  };

  const applyPod = (pod: Pod, { receivedAt, answeredAt: at }: AuditRecord): void => {
    const { uid = '', deletionTimestamp, deletionGracePeriodSeconds, finalizers } = pod.metadata ?? {};
    const before = state.pods.get(uid);
    // A pod whose labels no longer match is not the DaemonSet's, even before it is released.
    const wanted = Object.entries(state.daemonSet?.spec?.selector?.matchLabels ?? {});
    const fits = wanted.every(([key, value]) => pod.metadata?.labels?.[key] === value);
    const isOwned = fits && isControlledBy(pod, state.daemonSet?.metadata?.uid);
    if (!isOwned && !before) return;
    const facts = podFactsOf(pod);
    const node = facts.node || (before?.node ?? '');
    const isGone = deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && !finalizers?.length;
    if (isGone || !isOwned) {
      state.pods.delete(uid);
    } else {
      const closed = closedGates(pod);
      const ready = hasCondition(pod, 'Ready') && closed.size === 0 && !isPreparingDelete(pod);
      state.pods.set(uid, {
        ...facts,
        node,
        approved: approvalOf(pod),
        closedGates: closed,
        readySince: ready ? (before?.readySince ?? receivedAt) : undefined,
        lastReady:
          !ready && before?.readySince !== undefined ? { since: before.readySince, until: at } : before?.lastReady,
      });
    }
    const up = state.pods
      .values()
      .some((other) => other.node === node && !other.terminating && other.readySince !== undefined);
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
      state.deleted = verb === 'delete' || daemonSet.metadata.deletionTimestamp !== undefined;
      if (!hasSameTemplate(daemonSet, state.daemonSet)) {
        state.rollout += 1;
        state.target = undefined;
      }
      state.daemonSet = daemonSet;
    } else if (resource === 'controllerrevisions' && verb !== 'delete') {
      const revision = response as ControllerRevision;
      if (!isControlledBy(revision, state.daemonSet?.metadata?.uid) || revision.revision < newest) return;
      newest = revision.revision;
      const target = hashIn(revision);
      if (state.target !== target) state.targetSince = answeredAt;
      state.target = target;
    }
  };
  return { state, apply };
};
