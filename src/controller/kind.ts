/**
 * What is to be said of one kind of DaemonSet (apps/v1, or apps.kruise.io) so that its rollouts can be read. What is to be
 * done in its own way is in `kind-adapter.ts`; everything else about a rollout stands once, for all kinds.
 */

import type { Pod, PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import type { LabelSelector } from 'kubernetes-types/meta/v1.d.ts';
import type { KubeObject, Resource } from '../kube/index.ts';
import {
  controllerOf,
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

/** What is kept of a DaemonSet that is served. */
export interface DaemonSetView {
  uid: string;
  namespace: string;
  name: string;
  resourceVersion: string;
  generation: number;
  needs: SchedulingConstraints;
  /** Selector of its pods in the form of the API's query parameter. */
  podSelector: string;
  policy: Exclude<ParsedPolicy, { kind: 'off' }>;
}

/** The DaemonSet of this kind, in any of its versions, that controls the object; undefined for those of other kinds. */
export const controllingDaemonSet = (
  object: Pick<KubeObject, 'metadata'>,
  { group, kind }: Pick<Resource, 'group' | 'kind'>,
): Owner | undefined => {
  const owner = controllerOf(object);
  return owner?.kind === kind && owner.apiVersion.split('/')[0] === group ? owner : undefined;
};

/** What is kept of each pod, from the one watch of a DaemonSet's pods. */
export interface PodProjection<P> {
  /** Undefined for a pod that the selector matches and that is none of the DaemonSet's business. */
  project(pod: Pod, daemonSetUid: string): P | undefined;
  /** What the ledger is told; undefined for a pod that the DaemonSet does not own. */
  facts(kept: P): PodFacts | undefined;
}

/** The DaemonSet's own pods, and of them what the ledger is told and no more. */
export const ownedPodFacts: PodProjection<PodFacts> = {
  project: (pod, uid) => (controllerOf(pod)?.uid === uid ? toPodFacts(pod) : undefined),
  facts: (kept) => kept,
};

/** A revision with what it records. */
export interface RecordedRevision extends RevisionView {
  template: PodTemplateSpec | undefined;
}

/** One kind of DaemonSet: `D` as the API serves it, `V` what is kept of it, `P` what is kept of each of its pods. */
export interface Kind<D extends DaemonSetObject, V extends DaemonSetView, P> {
  /** Where it is read and written; owner references and Events name it in the same way. */
  resource: Resource<D>;
  /** Undefined for a DaemonSet that is not served: its pods are not watched, and nothing of it is kept. */
  toView(daemonSet: D): V | undefined;
  /** Name of the DaemonRollout of the DaemonSet of this name: kinds share the namespace of names. */
  rolloutName(daemonSet: string): string;
  /** What the DaemonRollout of a DaemonSet says that is there and is not served: a sentence that names the cure. */
  notManagedMessage: string;
  pods: PodProjection<P>;
  /** The revision that the DaemonSet asks for, by what its cluster says alone; undefined while that is not certain. */
  targetOf(view: V, owned: readonly RecordedRevision[]): TargetRevision | undefined;
}

/** Names one DaemonSet, as owner references and Events do, and its DaemonRollout. */
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
