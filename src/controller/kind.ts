/**
 * What distinguishes one kind of DaemonSet (apps/v1, or apps.kruise.io) when its rollouts are read. `kind-adapter.ts` has
 * what it does in its own way; everything else about a rollout exists once, for all kinds.
 */

import type { Pod, PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import type { LabelSelector } from 'kubernetes-types/meta/v1.d.ts';
import type { KubeObject, Resource } from '../kube/index.ts';
import {
  controllerOf,
  isEligible,
  matches,
  type NodeFacts,
  type NodeInfo,
  type Owner,
  type ParsedPolicy,
  type PodFacts,
  type SchedulingConstraints,
  type TargetRevision,
  toPodFacts,
} from '../rollout/index.ts';
import type { RevisionView } from './revisions.ts';

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
}

/** A node as one DaemonSet sees it under its current template and policy. `hasImageAgent`: an agent on it pulls images. */
export const nodeFactsOf = (
  { needs, policy }: Pick<DaemonSetView, 'needs' | 'policy'>,
  node: NodeInfo,
  hasImageAgent = false,
): NodeFacts => {
  const { nodeSelector, topologyKey } = policy.policy;
  return {
    name: node.name,
    ready: node.ready,
    readyChangedAt: node.readyChangedAt,
    eligible: isEligible(needs, node),
    selected: nodeSelector === undefined || matches(nodeSelector, node.labels),
    zone: topologyKey === undefined ? '' : (node.labels[topologyKey] ?? ''),
    ...((hasImageAgent || node.hasImageAgent) && { hasImageAgent: true }),
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

/** A revision with the template that it records. */
export interface RecordedRevision extends RevisionView {
  template: PodTemplateSpec | undefined;
}

/** One kind of DaemonSet: `D` as the API serves it, `V` what is kept of it, `P` what is kept of each of its pods. */
export interface Kind<D extends DaemonSetObject, V extends DaemonSetView, P> {
  /** Where it is read and written; owner references and Events use the same names. */
  resource: Resource<D>;
  /** Undefined for a DaemonSet that is not managed: nothing of it is cached. */
  toView(daemonSet: D): V | undefined;
  /** Name of the DaemonRollout of the DaemonSet of this name. The kinds share one namespace of names. */
  rolloutName(daemonSet: string): string;
  /** Message of the DaemonRollout of a DaemonSet that exists and is not managed; it names the remedy. */
  notManagedMessage: string;
  pods: PodProjection<P>;
  /** The revision that the DaemonSet asks for, read from the cluster alone; undefined while that is uncertain. */
  targetOf(view: V, owned: readonly RecordedRevision[]): TargetRevision | undefined;
}

/** Identifies one DaemonSet, as owner references and Events do, and its DaemonRollout. */
export interface DaemonSetRef {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
  rolloutName: string;
}

export const toDaemonSetRef = <D extends DaemonSetObject, V extends DaemonSetView, P>(
  { resource, rolloutName }: Pick<Kind<D, V, P>, 'resource' | 'rolloutName'>,
  { namespace, name, uid }: Pick<V, 'namespace' | 'name' | 'uid'>,
): DaemonSetRef => {
  const { group, version, kind } = resource;
  return { apiVersion: `${group}/${version}`, kind, namespace, name, uid, rolloutName: rolloutName(name) };
};
