import type { ControllerRevision, DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import type { Event, Namespace, Node, Pod, ServiceAccount } from 'kubernetes-types/core/v1.d.ts';
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { defineResource, type KubeObject, type Resource } from '../kube/index.ts';

/** An object as the API server keeps it: what the types leave open is there. */
export type Kept<T extends KubeObject> = Omit<T, 'metadata'> & {
  metadata: ObjectMeta & { name: string; uid: string; resourceVersion: string; namespace: string };
};

const core = <T extends KubeObject>(plural: string, kind: string, namespaced = true): Resource<T> =>
  defineResource<T>({ group: '', version: 'v1', plural, kind, namespaced });

export const pods = core<Pod>('pods', 'Pod');
export const nodes = core<Node>('nodes', 'Node', false);
export const namespaces = core<Namespace>('namespaces', 'Namespace', false);
export const serviceAccounts = core<ServiceAccount>('serviceaccounts', 'ServiceAccount');
export const events = core<Event>('events', 'Event');
export const daemonSets = defineResource<DaemonSet>({
  group: 'apps',
  version: 'v1',
  plural: 'daemonsets',
  kind: 'DaemonSet',
  namespaced: true,
});
export const controllerRevisions = defineResource<ControllerRevision>({
  group: 'apps',
  version: 'v1',
  plural: 'controllerrevisions',
  kind: 'ControllerRevision',
  namespaced: true,
});
export const leases = defineResource<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
});

export type KeptPod = Kept<Pod>;
export type KeptNode = Kept<Node>;
export type KeptDaemonSet = Kept<DaemonSet>;
export type KeptRevision = Kept<ControllerRevision>;

/** Times in the API are strings of whole seconds; the type package says `Date` for some of them. */
export const toTime = (ms: number): string =>
  new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
export const fromTime = (time: unknown): number => (typeof time === 'string' ? Date.parse(time) : 0);
