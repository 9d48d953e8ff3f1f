import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import {
  type AnyDaemonSet,
  hasCondition,
  hashIn,
  hasSameTemplate,
  isControlledBy,
  isDeletedTerminal,
  isLive,
  isNative,
  mayRunOn,
  type NodeFacts,
  type PodFacts,
  podFactsOf,
} from '../../invariants/index.ts';

/** A pod of the DaemonSet as it is. */
export interface PodState extends PodFacts {
  /** UID of its controller: an earlier DaemonSet of the same name may have left pods. */
  owner: string | undefined;
  /** One of its readiness gates is closed. */
  gateClosed: boolean;
  /** The readiness gates whose condition is False, which not all of the closed ones need have. */
  shut: readonly string[];
  /** Since when a container of it crash-loops or has no image. */
  failingSince: number | undefined;
  /** What its containers run: images as their statuses name them, with their IDs. */
  images: readonly (readonly [image: string, id: string])[];
  /** The revision that its owner agreed to. */
  approved: string | undefined;
  /** The last period in which it was ready that has ended. */
  lastReady: { since: number; until: number } | undefined;
}

export interface NodeState extends NodeFacts {
  ready: boolean;
  /** Since when `ready` has been what it is. */
  since: number;
  /** It was ready before, and has not always been since. */
  returned: boolean;
  /** A pod of the DaemonSet may be scheduled to it. */
  eligible: boolean;
  annotations: Readonly<Record<string, string>>;
  /** Types of its other conditions that are True. */
  conditions: readonly string[];
}

/** The actual state of the cluster, as far as the rollout of one DaemonSet is concerned: after each write, from the writes alone. */
export interface ClusterState {
  readonly nodes: ReadonlyMap<string, NodeState>;
  /** By UID. */
  readonly pods: ReadonlyMap<string, PodState>;
  /** Without those that have ended and are being deleted. */
  readonly podsOn: (node: string) => readonly PodState[];
  /** Hash of the template's revision; undefined until it is known (`TargetFrom`). */
  readonly target: string | undefined;
  /** Since when. */
  readonly targetSince: number;
  /** The number of the present rollout. */
  readonly rollout: number;
  /** The number of the rollout that this version of the DaemonSet asks for; 0 for none. A, B, A are three rollouts. */
  rolloutOf(daemonSet: AnyDaemonSet | undefined): number;
  readonly daemonSet: AnyDaemonSet | undefined;
}

/** A call that an API server has executed, as all judges read it: the simulation's while they happen, or those of an audit log. */
export interface Executed {
  /** What it did to the object. */
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  resource: { group: string; plural: string };
  object: object;
  /** The user; undefined: the object says itself who decided what it says. */
  by?: string | undefined;
  /** When the request arrived, and when its answer left. */
  arrivedAt: number;
  answeredAt: number;
}

/**
 * When the revision of a template counts as the target: once the DaemonSet's status says that its controller has observed the
 * template, or already once a revision is recorded after the template has changed.
 */
export type TargetFrom = 'observed generation' | 'recorded revision';

export interface StateOptions {
  targetFrom?: TargetFrom;
  /** Called with the node of each change. */
  onNodeChange?: (node: string) => void;
}

const FAILING: ReadonlySet<string | undefined> = new Set(['CrashLoopBackOff', 'ImagePullBackOff']);

const NONE: readonly string[] = [];

const approvalIn = ({ status }: Pod): string | undefined =>
  status?.conditions
    ?.find((condition) => condition.type === 'UpgradeApproved' && condition.status === 'True')
    ?.message?.replace('controllerrevision: ', '');

/** `readyAt`: since when it is ready if it has just become so: a watch may deliver a write before the server has answered it. */
export const toPodState = (pod: Pod, before: PodState | undefined, now: number, readyAt = now): PodState => {
  const gates = pod.spec?.readinessGates ?? [];
  // The kubelet updates the condition Ready some time after a gate has changed.
  const gateClosed = gates.some(({ conditionType }) => !hasCondition(pod, conditionType));
  const ready = hasCondition(pod, 'Ready') && !gateClosed;
  const wasReady = before?.readySince !== undefined;
  const isFailing = pod.status?.containerStatuses?.some(({ state }) => FAILING.has(state?.waiting?.reason)) ?? false;
  return {
    ...podFactsOf(pod),
    owner: pod.metadata?.ownerReferences?.find(({ controller }) => controller)?.uid,
    gateClosed,
    shut: gateClosed
      ? gates.map(({ conditionType }) => conditionType).filter((gate) => hasCondition(pod, gate, 'False'))
      : NONE,
    images: (pod.status?.containerStatuses ?? []).map(({ image, imageID }) => [image, imageID] as const),
    approved: approvalIn(pod),
    readySince: ready ? (before?.readySince ?? readyAt) : undefined,
    lastReady: !ready && wasReady ? { since: before.readySince ?? now, until: now } : before?.lastReady,
    // Behind a closed gate it is the previous version that fails.
    failingSince: isFailing && !gateClosed ? (before?.failingSince ?? now) : undefined,
  };
};

/** Types of a node's conditions other than Ready that are True. */
export const conditionsOf = ({ status }: Node): readonly string[] =>
  status?.conditions?.flatMap((each) => (each.type !== 'Ready' && each.status === 'True' ? [each.type] : [])) ?? NONE;

export const isReadyNode = (node: Node): boolean => hasCondition(node, 'Ready');

export const isEligible = ({ metadata, spec }: Node, daemonSet: AnyDaemonSet | undefined): boolean =>
  mayRunOn(
    { name: metadata?.name ?? '', labels: metadata?.labels ?? {}, taints: spec?.taints ?? [] },
    daemonSet?.spec?.template.spec ?? { containers: [] },
    'to begin',
  );

/** The labels are those that the DaemonSet selects; also where it selects by nothing. */
const isSelected = (daemonSet: AnyDaemonSet | undefined, labels: ObjectMeta['labels'] = {}): boolean =>
  Object.entries(daemonSet?.spec?.selector?.matchLabels ?? {}).every(([key, value]) => labels[key] === value);

export const isDeleted = ({ daemonSet }: ClusterState): boolean => daemonSet?.metadata?.deletionTimestamp != null;

export const livePods = (state: ClusterState, node: string): PodState[] => state.podsOn(node).filter(isLive);

/** Whether a pod of the DaemonSet may run on the node. */
export const mayHavePod = (state: ClusterState, node: NodeState, how: 'to stay' | 'to begin'): boolean =>
  mayRunOn(node, state.daemonSet?.spec?.template.spec, how);

/** Nodes that are to have a pod, or may keep the one they have. */
export const nodesToServe = (state: ClusterState): NodeState[] => {
  const occupied = new Set([...state.pods.values()].map(({ node }) => node));
  return [...state.nodes.values()].filter((node) =>
    mayHavePod(state, node, occupied.has(node.name) ? 'to stay' : 'to begin'),
  );
};

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

/** Follows one DaemonSet. Its namespace is `default` unless another one is named. */
export const followClusterState = (
  { group, name, namespace = 'default' }: { group: string; name: string; namespace?: string },
  { targetFrom = 'observed generation', onNodeChange = () => undefined }: StateOptions = {},
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
  /** A revision was recorded since the template has changed. */
  let isRecorded = false;
  let targetSince = 0;
  /** When the write that is applied was executed. */
  let writtenAt = { earliest: 0, latest: 0 };

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
      since: before?.ready === ready ? before.since : writtenAt.latest,
      returned: before !== undefined && (before.returned || (before.ready && !ready)),
      eligible: isEligible(node, daemonSet),
      labels: node.metadata?.labels ?? {},
      annotations: node.metadata?.annotations ?? {},
      taints: node.spec?.taints ?? [],
      conditions: conditionsOf(node),
    });
  };
  const newest = (): { number: number; hash: string } | undefined => {
    let found: { number: number; hash: string } | undefined;
    // The native controller may use a number twice while it has not observed its own last revision, and means the later
    // one. Of our managers, the later one of two is from a manager that slept.
    const latestWins = daemonSet !== undefined && isNative(daemonSet);
    for (const each of revisions.values())
      if (!found || each.number > found.number || (latestWins && each.number === found.number)) found = each;
    return found;
  };
  const isTargetKnown = (): boolean =>
    targetFrom === 'recorded revision'
      ? isRecorded
      : (daemonSet?.status?.observedGeneration ?? 0) >= (daemonSet?.metadata?.generation ?? 1);

  const state: ClusterState = {
    nodes,
    pods,
    podsOn: (node) => [...(byNode.get(node) ?? [])].filter((pod) => !isDeletedTerminal(pod)),
    get target() {
      return isTargetKnown() ? newest()?.hash : undefined;
    },
    get targetSince() {
      return targetSince;
    },
    get rollout() {
      return rollout;
    },
    rolloutOf: (version) => (version && rollouts.get(generationKey(version))) ?? 0,
    get daemonSet() {
      return daemonSet;
    },
  };

  const applyPod = (pod: Pod, gone: boolean): void => {
    const { uid = '', labels } = pod.metadata ?? {};
    const before = pods.get(uid);
    if (before) removePod(before);
    // A pod of another namespace is not the DaemonSet's, whatever it claims; nor one that the selector no longer matches, even before
    // it is released.
    const isOwned =
      isControlledBy(pod, owner) && pod.metadata?.namespace === namespace && isSelected(daemonSet, labels);
    if (gone || !isOwned) pods.delete(uid);
    else addPod(toPodState(pod, before, writtenAt.latest, writtenAt.earliest));
    const node = pods.get(uid)?.node ?? before?.node;
    if (node !== undefined) onNodeChange(node);
  };
  const applyDaemonSet = (next: AnyDaemonSet, gone: boolean): void => {
    const isAnother = next.metadata?.uid !== daemonSet?.metadata?.uid;
    if (gone) {
      if (!isAnother) daemonSet = undefined;
      return;
    }
    if (isAnother) for (const table of [revisions, pods, byNode]) table.clear();
    owner = next.metadata?.uid;
    if (isAnother || !hasSameTemplate(next, daemonSet)) {
      rollout += 1;
      isRecorded = false;
    }
    daemonSet = next;
    rollouts.set(generationKey(next), rollout);
    for (const node of nodeObjects.values()) setNode(node);
  };
  const applyRevision = (revision: ControllerRevision, gone: boolean): void => {
    const uid = revision.metadata?.uid ?? '';
    if (gone) revisions.delete(uid);
    if (gone || !isControlledBy(revision, daemonSet?.metadata?.uid)) return;
    const before = state.target;
    const written = { number: revision.revision, hash: hashIn(revision) ?? '' };
    if (written.number >= (newest()?.number ?? 0)) isRecorded = true;
    revisions.set(uid, written);
    if (state.target !== before) targetSince = writtenAt.latest;
  };

  const apply = ({ type, resource, object, arrivedAt, answeredAt }: Executed): void => {
    writtenAt = { earliest: arrivedAt, latest: answeredAt };
    const gone = type === 'DELETED';
    const { metadata } = object as { metadata: ObjectMeta };
    const { name: key = '' } = metadata;
    switch (resource.plural) {
      case 'nodes':
        if (gone) {
          nodes.delete(key);
          nodeObjects.delete(key);
        } else setNode(object);
        onNodeChange(key);
        return;
      case 'pods':
        applyPod(object, gone);
        return;
      case 'daemonsets':
        if (key === name && resource.group === group && metadata.namespace === namespace) applyDaemonSet(object, gone);
        return;
      case 'controllerrevisions':
        applyRevision(object as ControllerRevision, gone);
        return;
      default:
    }
  };
  return { state, apply };
};
