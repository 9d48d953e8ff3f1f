/**
 * What distinguishes one kind of DaemonSet (apps/v1, or apps.kruise.io) when its rollouts are read. `kind-adapter.ts` has
 * what it does in its own way; everything else about a rollout exists once, for all kinds.
 */

import { isDeepStrictEqual } from 'node:util';
import type { Pod, PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import type { LabelSelector } from 'kubernetes-types/meta/v1.d.ts';
import type { KubeClient, KubeObject, Resource } from '../kube/index.ts';
import {
  asksForPulls,
  busyBy,
  controllerOf,
  type DaemonSetName,
  groupsOf,
  isEligible,
  listedState,
  matches,
  matchingStages,
  type NodeFacts,
  type NodeInfo,
  type Owner,
  type ParsedPolicy,
  type PodFacts,
  type PolicyError,
  type SchedulingConstraints,
  type TargetRevision,
  type TemplateOrigin,
  toPodFacts,
} from '../rollout/index.ts';

/** A DaemonSet as the API serves it. */
export interface DaemonSetObject extends KubeObject {
  spec?: { selector?: LabelSelector };
}

/** What the cache keeps of a managed DaemonSet. */
export interface DaemonSetView {
  uid: string;
  namespace: string;
  name: string;
  resourceVersion: string;
  generation: number;
  needs: SchedulingConstraints;
  /** Selector of its pods, in the form of the API's query parameter. */
  podSelector: string;
  policy: Exclude<ParsedPolicy, { kind: 'off' }>;
  /** Of its template. */
  origin: TemplateOrigin;
}

/** Set by the API server on objects deleted with `--cascade=orphan`. */
export const ORPHAN_FINALIZER = 'orphan';

const ARCH_LABEL = 'kubernetes.io/arch';

/** Headers of a request, its path among them, may have 64 KiB. */
const MAX_SELECTOR_BYTES = 32 * 1024;

/** Why no request can carry the selector; undefined if it fits. */
export const selectorTooLong = (podSelector: string): PolicyError | undefined => {
  const bytes = encodeURIComponent(podSelector).length;
  if (bytes <= MAX_SELECTOR_BYTES) return undefined;
  return {
    field: 'spec.selector',
    value: `${bytes} bytes`,
    problem: `is longer than the ${MAX_SELECTOR_BYTES} bytes that a request for its pods can carry`,
    remedy: 'delete the DaemonSet with --cascade=orphan and create it again with a shorter selector',
  };
};

/** What a DaemonSet looks for in nodes. */
const searchOf = ({ needs, policy, origin }: Pick<DaemonSetView, 'needs' | 'policy' | 'origin'>) => {
  const { nodeSelector, topologyKey, plan } = policy.policy;
  const images = asksForPulls(policy.policy) ? origin.images : [];
  return { needs, nodeSelector, topologyKey, plan, images };
};

/** Whether both versions of a DaemonSet see each node in the same way. */
export const seeNodesAlike = (a: DaemonSetView, b: DaemonSetView): boolean =>
  isDeepStrictEqual(searchOf(a), searchOf(b));

/** A node as one DaemonSet sees it under its current template and policy. */
export const nodeFactsOf = (view: Pick<DaemonSetView, 'needs' | 'policy' | 'origin'>, node: NodeInfo): NodeFacts => {
  const { needs, nodeSelector, topologyKey, plan, images } = searchOf(view);
  const listed = listedState(node.images, images);
  const busy = plan && busyBy(plan, node);
  return {
    name: node.name,
    ready: node.ready,
    readyChangedAt: node.readyChangedAt,
    eligible: isEligible(needs, node),
    selected: nodeSelector === undefined || matches(nodeSelector, node.labels),
    zone: topologyKey === undefined ? '' : (node.labels[topologyKey] ?? ''),
    ...(node.labels[ARCH_LABEL] !== undefined && { arch: node.labels[ARCH_LABEL] }),
    ...(plan && plan.stages.length > 0 && { stages: matchingStages(plan, node.labels) }),
    ...(plan && plan.groups.length > 0 && { groups: groupsOf(plan, node.labels) }),
    ...(listed && { images: listed }),
    ...(busy !== undefined && { busy }),
    ...(plan && node.timeZone !== undefined && { timeZone: node.timeZone }),
  };
};

/** The DaemonSet of this kind, in any of its versions, that controls the object; undefined for other owners. */
export const controllingDaemonSet = (
  object: Pick<KubeObject, 'metadata'>,
  { group, kind }: Pick<Resource, 'group' | 'kind'>,
): Owner | undefined => {
  const owner = controllerOf(object);
  return owner?.kind === kind && owner.apiVersion.split('/')[0] === group ? owner : undefined;
};

/** What the cache keeps of each pod, from the one watch of a DaemonSet's pods. */
export interface PodProjection<P> {
  /** Undefined for a pod that the selector matches, but that has nothing to do with the DaemonSet. */
  project(pod: Pod, daemonSetUid: string): P | undefined;
  /** What the ledger needs; undefined for a pod that the DaemonSet does not own. */
  facts(kept: P): PodFacts | undefined;
}

/** Keeps the pods that the DaemonSet owns, and of them what the ledger needs. */
export const ownedPodFacts: PodProjection<PodFacts> = {
  project: (pod, uid) => (controllerOf(pod)?.uid === uid ? toPodFacts(pod) : undefined),
  facts: (kept) => kept,
};

/** What the cache keeps of a ControllerRevision that a DaemonSet of one kind owns. */
export interface RevisionView extends TargetRevision {
  ownerUid: string;
  templateDigest: string;
}

/** A revision with the template that it records. */
export interface RecordedRevision extends RevisionView {
  template: PodTemplateSpec | undefined;
  /** Annotation `kubernetes.io/change-cause`: why somebody set the template; absent without one. */
  changeCause?: string;
}

/** One kind of DaemonSet: `D` as the API serves it, `V` what is kept of it, `P` what is kept of each of its pods. */
export interface Kind<D extends DaemonSetObject, V extends DaemonSetView, P> {
  /** Where it is read and written; owner references and Events use the same names. */
  resource: Resource<D>;
  /** Its short name, by which commands call it. */
  short: DaemonSetName['short'];
  /**
   * Undefined for a DaemonSet that is not managed: nothing of it is cached. `known`: the view of an earlier version, with the
   * same UID. What follows from the spec alone is taken from it while the generation is the same.
   */
  toView(daemonSet: D, known?: V): V | undefined;
  /** Name of the DaemonRollout of the DaemonSet of this name. The kinds share one namespace of names. */
  rolloutName(daemonSet: string): string;
  /** The reverse; undefined for the name of a DaemonRollout of another kind. */
  daemonSetOf(rolloutName: string): string | undefined;
  /** Message of the DaemonRollout of a DaemonSet that exists and is not managed; it names the remedy. */
  notManagedMessage: string;
  pods: PodProjection<P>;
  /** Takes back what the DaemonSet's own status says of its rollout, once the DaemonSet is no longer managed. */
  clearStatus?(client: KubeClient, daemonSet: D, signal: AbortSignal): Promise<void>;
  /** The revision that the DaemonSet asks for, read from the cluster alone; undefined while that is uncertain. */
  targetOf(view: V, owned: readonly RecordedRevision[]): TargetRevision | undefined;
}

/** Identifies one DaemonSet, as owner references and Events do, and its DaemonRollout. */
export interface DaemonSetRef extends DaemonSetName {
  apiVersion: string;
  kind: string;
  uid: string;
  rolloutName: string;
}

export const toDaemonSetRef = <D extends DaemonSetObject, V extends DaemonSetView, P>(
  { resource, short, rolloutName }: Pick<Kind<D, V, P>, 'resource' | 'short' | 'rolloutName'>,
  { namespace, name, uid }: Pick<V, 'namespace' | 'name' | 'uid'>,
): DaemonSetRef => {
  const { group, version, kind } = resource;
  return { apiVersion: `${group}/${version}`, kind, short, namespace, name, uid, rolloutName: rolloutName(name) };
};
