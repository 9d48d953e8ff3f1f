import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Change } from '../../../embedded/index.ts';
import {
  type AnyDaemonSet,
  hasCondition,
  hashIn,
  hasSameTemplate,
  isControlledBy,
  isDeletedTerminal,
  isNative,
  mayRunOn,
  type PodFacts,
  podFactsOf,
} from '../../invariants/index.ts';

/** A pod of the DaemonSet as it is. */
export interface PodState extends PodFacts {
  /** UID of its controller: an earlier DaemonSet of the same name may have left pods. */
  owner: string | undefined;
  /** One of its readiness gates is closed. */
  gateClosed: boolean;
  /** Since when a container of it crash-loops or has no image. */
  failingSince: number | undefined;
}

export interface NodeState {
  name: string;
  ready: boolean;
  /** Since when `ready` has been what it is. */
  since: number;
  eligible: boolean;
  labels: Readonly<Record<string, string>>;
}

/** The actual state of the cluster, as far as the rollout of one DaemonSet is concerned. */
export interface ClusterState {
  readonly nodes: ReadonlyMap<string, NodeState>;
  /** By UID. */
  readonly pods: ReadonlyMap<string, PodState>;
  /** Without those that have ended and are being deleted. */
  readonly podsOn: (node: string) => readonly PodState[];
  /** Hash of the template's revision; undefined until it is recorded. */
  readonly target: string | undefined;
  /** The number of the rollout that this version of the DaemonSet asks for; 0 for none. A, B, A are three rollouts. */
  rolloutOf(daemonSet: AnyDaemonSet | undefined): number;
  readonly daemonSet: AnyDaemonSet | undefined;
}

const FAILING: ReadonlySet<string | undefined> = new Set(['CrashLoopBackOff', 'ImagePullBackOff']);

export const toPodState = (pod: Pod, before: PodState | undefined, now: number): PodState => {
  // The kubelet updates the condition Ready some time after a gate has changed.
  const gateClosed = (pod.spec?.readinessGates ?? []).some(({ conditionType }) => !hasCondition(pod, conditionType));
  const ready = hasCondition(pod, 'Ready') && !gateClosed;
  const isFailing = pod.status?.containerStatuses?.some(({ state }) => FAILING.has(state?.waiting?.reason)) ?? false;
  return {
    ...podFactsOf(pod),
    owner: pod.metadata?.ownerReferences?.find(({ controller }) => controller)?.uid,
    gateClosed,
    readySince: ready ? (before?.readySince ?? now) : undefined,
    // Behind a closed gate it is the previous version that fails.
    failingSince: isFailing && !gateClosed ? (before?.failingSince ?? now) : undefined,
  };
};

export const isReadyNode = (node: Node): boolean => hasCondition(node, 'Ready');

export const isEligible = ({ metadata, spec }: Node, daemonSet: AnyDaemonSet | undefined): boolean =>
  mayRunOn(
    { name: metadata?.name ?? '', labels: metadata?.labels ?? {}, taints: spec?.taints ?? [] },
    daemonSet?.spec?.template.spec ?? { containers: [] },
    'to begin',
  );

/** The pod was created for the DaemonSet of this name, or for an earlier one of the same name. */
export const isPodOf = (pod: Pod | undefined, daemonSet: { group: string; name: string }): boolean =>
  pod?.metadata?.ownerReferences?.some(
    ({ controller, kind, name, apiVersion }) =>
      controller === true &&
      kind === 'DaemonSet' &&
      name === daemonSet.name &&
      apiVersion.startsWith(`${daemonSet.group}/`),
  ) ?? false;

/** One version of the DaemonSet's spec. */
export const generationKey = ({ metadata }: AnyDaemonSet): string => `${metadata?.uid} ${metadata?.generation}`;

/** Follows the API server's commits. `onNodeChange` is called with the node of each. */
export const followClusterState = (
  { group, name }: { group: string; name: string },
  now: () => number,
  onNodeChange: (node: string) => void,
) => {
  const nodes = new Map<string, NodeState>();
  const nodeObjects = new Map<string, Node>();
  const pods = new Map<string, PodState>();
  const byNode = new Map<string, Set<PodState>>();
  const revisions = new Map<string, { number: number; hash: string }>();
  let daemonSet: AnyDaemonSet | undefined;
  /** UID of the last DaemonSet: its pods stay on their nodes for a while after it is deleted. */
  let owner: string | undefined;
  let rollout = 0;
  const rollouts = new Map<string, number>();

  const removePod = (pod: PodState): void => void byNode.get(pod.node)?.delete(pod);
  const addPod = (pod: PodState): void => {
    pods.set(pod.uid, pod);
    const onNode = byNode.get(pod.node);
    if (onNode) onNode.add(pod);
    else byNode.set(pod.node, new Set([pod]));
  };
  const setNode = (node: Node): void => {
    const key = node.metadata?.name ?? '';
    const before = nodes.get(key);
    const ready = isReadyNode(node);
    nodeObjects.set(key, node);
    nodes.set(key, {
      name: key,
      ready,
      since: before?.ready === ready ? before.since : now(),
      eligible: isEligible(node, daemonSet),
      labels: node.metadata?.labels ?? {},
    });
  };

  const actual: ClusterState = {
    nodes,
    pods,
    podsOn: (node) => [...(byNode.get(node) ?? [])].filter((pod) => !isDeletedTerminal(pod)),
    get target() {
      let newest: { number: number; hash: string } | undefined;
      // The native controller may use a number twice while it has not observed its own last revision, and means the later
      // one. Of our managers, the later one of two is from a manager that slept.
      const latestWins = daemonSet !== undefined && isNative(daemonSet);
      for (const each of revisions.values())
        if (!newest || each.number > newest.number || (latestWins && each.number === newest.number)) newest = each;
      const observed = daemonSet?.status?.observedGeneration ?? 0;
      return observed >= (daemonSet?.metadata?.generation ?? 1) ? newest?.hash : undefined;
    },
    rolloutOf: (version) => (version && rollouts.get(generationKey(version))) ?? 0,
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
          nodeObjects.delete(key);
        } else setNode(object as unknown as Node);
        onNodeChange(key);
        return;
      }
      case 'pods': {
        const before = pods.get(uid);
        if (before) removePod(before);
        // A pod of another namespace is not the DaemonSet's, whatever it claims.
        if (gone || !isControlledBy(object, owner) || object.metadata.namespace !== 'default') pods.delete(uid);
        else addPod(toPodState(object as unknown as Pod, before, now()));
        const node = pods.get(uid)?.node ?? before?.node;
        if (node !== undefined) onNodeChange(node);
        return;
      }
      case 'daemonsets': {
        if (key !== name || resource.group !== group) return;
        const next = object as unknown as AnyDaemonSet;
        const isAnother = next.metadata?.uid !== daemonSet?.metadata?.uid;
        if (gone) {
          if (!isAnother) daemonSet = undefined;
          return;
        }
        if (isAnother) for (const table of [revisions, pods, byNode]) table.clear();
        owner = next.metadata?.uid;
        if (isAnother || !hasSameTemplate(next, daemonSet)) rollout += 1;
        daemonSet = next;
        rollouts.set(generationKey(next), rollout);
        for (const node of nodeObjects.values()) setNode(node);
        return;
      }
      case 'controllerrevisions': {
        const revision = object as unknown as ControllerRevision;
        if (gone) revisions.delete(uid);
        else if (isControlledBy(revision, daemonSet?.metadata?.uid))
          revisions.set(uid, { number: revision.revision, hash: hashIn(revision) ?? '' });
        return;
      }
      default:
    }
  };
  return { actual, apply };
};
