import type { ControllerRevision, DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Event, Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { defineResource, type KubeObject, type Resource } from '../src/kube/index.ts';
import type { ApiServer } from './types.ts';

/** An object as stored: metadata fields that the generated types leave optional are present. */
export type Stored<T extends KubeObject> = Omit<T, 'metadata'> & {
  metadata: ObjectMeta & { name: string; uid: string; resourceVersion: string; namespace: string };
};

/** Events of the core group; those of events.k8s.io are the same objects. */
export const events = defineResource<Event>({
  group: '',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
});

export type StoredPod = Stored<Pod>;
export type StoredNode = Stored<Node>;
export type StoredDaemonSet = Stored<DaemonSet>;
export type StoredRevision = Stored<ControllerRevision>;

/** API times are strings in whole seconds; the generated types say `Date` for some of them. */
export const toTime = (ms: number): string =>
  new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
export const fromTime = (time: unknown): number => (typeof time === 'string' ? Date.parse(time) : 0);

/** Updates these fields of the object's status. */
export const updateStatus = (
  apiServer: ApiServer,
  resource: Resource,
  object: { status?: object },
  changes: object,
): void => {
  const next = { ...object, status: { ...object.status, ...changes } };
  apiServer.update<object>(resource, next, { subresource: 'status' });
};

/** The object's conditions with this one instead of the one of its type. */
export const withCondition = (
  { status }: { status?: { conditions?: readonly { type: string }[] } },
  condition: { type: string; [field: string]: unknown },
): { type: string }[] => [...(status?.conditions ?? []).filter(({ type }) => type !== condition.type), condition];
