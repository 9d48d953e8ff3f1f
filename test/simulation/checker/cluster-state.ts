import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Change, StoredObject } from '../../../src/sim/index.ts';
import type { AnyDaemonSet } from './terms.ts';

/** A pod of the DaemonSet as it is. */
export interface PodState {
  uid: string;
  name: string;
  node: string;
  hash: string;
  terminating: boolean;
  /** Its user's controller has its turn before it is deleted. */
  preparing: boolean;
  /** Failed or Succeeded. */
  ended: boolean;
  /** Since when it is ready, epoch ms. */
  readySince: number | undefined;
  /** One of its gates is. */
  shut: boolean;
  /** Since when a container of it crashes again and again, or has no image. */
  failingSince: number | undefined;
}

export interface NodeState {
  name: string;
  ready: boolean;
  /** Since when `ready` is what it is. */
  since: number;
  /** The DaemonSet is for it. */
  eligible: boolean;
}

/** The cluster's own state, as far as a DaemonSet's rollout is concerned. */
export interface ClusterState {
  readonly nodes: ReadonlyMap<string, NodeState>;
  /** By UID. */
  readonly pods: ReadonlyMap<string, PodState>;
  readonly podsOn: (node: string) => readonly PodState[];
  /** The hash that the template's revision has; undefined until that is recorded. */
  readonly target: string | undefined;
  /** The number of the rollout that the DaemonSet, as it was once, asks for; 0 for none. A, B, A are three. */
  rolloutOf(daemonSet: AnyDaemonSet | undefined): number;
  readonly daemonSet: AnyDaemonSet | undefined;
}

const isTrue = (conditions: readonly { type: string; status: string }[] | undefined, type: string): boolean =>
  conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;

/** Taints that pods of DaemonSets always bear. */
const BORNE =
  /^node\.kubernetes\.io\/(not-ready|unreachable|disk-pressure|memory-pressure|pid-pressure|unschedulable)$/;

export const nodeOf = (pod: Pod): string => {
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const field = terms?.flatMap((term) => term.matchFields ?? []).find(({ key }) => key === 'metadata.name');
  return pod.spec?.nodeName ?? field?.values?.[0] ?? '';
};

const FAILING: ReadonlySet<string | undefined> = new Set(['CrashLoopBackOff', 'ImagePullBackOff']);

export const toPodState = (pod: Pod, before: PodState | undefined, now: number): PodState => {
  const conditions = pod.status?.conditions;
  // The kubelet brings Ready to what a gate says a little later.
  const shut = (pod.spec?.readinessGates ?? []).some(
    ({ conditionType }) => conditions?.find(({ type }) => type === conditionType)?.status !== 'True',
  );
  const ready = isTrue(conditions, 'Ready') && !shut;
  const isFailing = pod.status?.containerStatuses?.some(({ state }) => FAILING.has(state?.waiting?.reason)) ?? false;
  return {
    uid: pod.metadata?.uid ?? '',
    name: pod.metadata?.name ?? '',
    node: nodeOf(pod),
    hash: pod.metadata?.labels?.['controller-revision-hash'] ?? '',
    terminating: pod.metadata?.deletionTimestamp != null,
    preparing: pod.metadata?.labels?.['lifecycle.apps.kruise.io/state'] === 'PreparingDelete',
    ended: pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded',
    shut,
    readySince: ready ? (before?.readySince ?? now) : undefined,
    // Behind a gate that is shut it is the version before that fails.
    failingSince: isFailing && !shut ? (before?.failingSince ?? now) : undefined,
  };
};

export const isReadyNode = (node: Node): boolean => isTrue(node.status?.conditions, 'Ready');

export const isEligible = (node: Node, daemonSet: AnyDaemonSet | undefined): boolean => {
  const wanted = Object.entries(daemonSet?.spec?.template.spec?.nodeSelector ?? {});
  const labels = node.metadata?.labels ?? {};
  if (!wanted.every(([key, value]) => labels[key] === value)) return false;
  return (node.spec?.taints ?? []).every(({ key, effect }) => effect === 'PreferNoSchedule' || BORNE.test(key));
};

const isControlledBy = (object: StoredObject, uid: string | undefined): boolean =>
  uid !== undefined &&
  (object.metadata.ownerReferences?.some((owner) => owner.controller && owner.uid === uid) ?? false);

/** What did not change between two versions of an object is most often shared by them. */
export const hasSameTemplate = (one: AnyDaemonSet, other: AnyDaemonSet | undefined): boolean =>
  one.spec?.template === other?.spec?.template ||
  JSON.stringify(one.spec?.template) === JSON.stringify(other?.spec?.template);

/** Made for the DaemonSet of this name, or for one that had it before. */
export const isPodOf = (pod: Pod | undefined, daemonSet: { group: string; name: string }): boolean =>
  pod?.metadata?.ownerReferences?.some(
    ({ controller, kind, name, apiVersion }) =>
      controller === true &&
      kind === 'DaemonSet' &&
      name === daemonSet.name &&
      apiVersion.startsWith(`${daemonSet.group}/`),
  ) ?? false;

/** Follows the API server's commits. `changed` hears which node each of them was about. */
export const followClusterState = (
  { group, name }: { group: string; name: string },
  now: () => number,
  changed: (node: string) => void,
) => {
  const nodes = new Map<string, NodeState>();
  const raw = new Map<string, Node>();
  const pods = new Map<string, PodState>();
  const byNode = new Map<string, Set<PodState>>();
  const revisions = new Map<string, { number: number; hash: string }>();
  let daemonSet: AnyDaemonSet | undefined;
  /** UID of the last one: its pods are still on their nodes when it is gone. */
  let owner: string | undefined;
  let rollout = 0;
  /** By UID and generation. */
  const rollouts = new Map<string, number>();
  const versionOf = ({ metadata }: AnyDaemonSet): string => `${metadata?.uid} ${metadata?.generation}`;

  const unfile = (pod: PodState): void => void byNode.get(pod.node)?.delete(pod);
  const file = (pod: PodState): void => {
    const there = byNode.get(pod.node);
    if (there) there.add(pod);
    else byNode.set(pod.node, new Set([pod]));
  };
  const takeNode = (node: Node): void => {
    const key = node.metadata?.name ?? '';
    const before = nodes.get(key);
    const ready = isReadyNode(node);
    raw.set(key, node);
    nodes.set(key, {
      name: key,
      ready,
      since: before?.ready === ready ? before.since : now(),
      eligible: isEligible(node, daemonSet),
    });
  };

  const actual: ClusterState = {
    nodes,
    pods,
    podsOn: (node) => [...(byNode.get(node) ?? [])],
    get target() {
      let newest: { number: number; hash: string } | undefined;
      // Kubernetes' controller, where it has not seen its own last one yet, gives a number twice, and means the later; of
      // managers of ours the later is one that slept.
      const isNative = daemonSet?.apiVersion === 'apps/v1';
      for (const each of revisions.values())
        if (!newest || each.number > newest.number || (isNative && each.number === newest.number)) newest = each;
      const observed = daemonSet?.status?.observedGeneration ?? 0;
      return observed >= (daemonSet?.metadata?.generation ?? 1) ? newest?.hash : undefined;
    },
    rolloutOf: (seen) => (seen && rollouts.get(versionOf(seen))) ?? 0,
    get daemonSet() {
      return daemonSet;
    },
  };

  const apply = ({ type, resource, object }: Change): void => {
    const gone = type === 'DELETED';
    const { name: key, uid } = object.metadata;
    switch (resource.plural) {
      case 'nodes': {
        if (gone) {
          nodes.delete(key);
          raw.delete(key);
        } else takeNode(object as unknown as Node);
        changed(key);
        return;
      }
      case 'pods': {
        const before = pods.get(uid);
        if (before) unfile(before);
        if (gone || !isControlledBy(object, owner)) pods.delete(uid);
        else {
          const pod = toPodState(object as unknown as Pod, before, now());
          pods.set(uid, pod);
          file(pod);
        }
        const node = pods.get(uid)?.node ?? before?.node;
        if (node !== undefined) changed(node);
        return;
      }
      case 'daemonsets': {
        if (key !== name || resource.group !== group) return;
        const next = object as unknown as AnyDaemonSet;
        const other = next.metadata?.uid !== daemonSet?.metadata?.uid;
        if (gone) {
          if (!other) daemonSet = undefined;
          return;
        }
        if (other) for (const table of [revisions, pods, byNode]) table.clear();
        owner = next.metadata?.uid;
        if (other || !hasSameTemplate(next, daemonSet)) rollout += 1;
        daemonSet = next;
        rollouts.set(versionOf(next), rollout);
        for (const node of raw.values()) takeNode(node);
        return;
      }
      case 'controllerrevisions': {
        const { revision, metadata } = object as unknown as ControllerRevision;
        if (gone) revisions.delete(uid);
        else if (isControlledBy(object, daemonSet?.metadata?.uid))
          revisions.set(uid, { number: revision, hash: metadata?.labels?.['controller-revision-hash'] ?? '' });
        return;
      }
      default:
    }
  };
  return { actual, apply };
};
