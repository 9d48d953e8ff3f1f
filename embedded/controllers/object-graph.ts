import type { OwnerReference } from 'kubernetes-types/meta/v1.d.ts';
import type { Resource } from '../../src/kube/index.ts';
import { createGroupedMap } from '../grouped-map.ts';
import type { Change, StoredObject } from '../types.ts';

/** An object's identity and owners. */
export interface GraphNode {
  readonly uid: string;
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly owners: readonly OwnerReference[];
  /** What the garbage collector's finalizers wait for. */
  readonly waitsFor: 'dependents' | 'orphans' | undefined;
  readonly deleting: boolean;
}

/** Owners, dependents and namespaces of all objects. Events are left out: they own nothing and nothing owns them. */
export interface ObjectGraph {
  get(uid: string): GraphNode | undefined;
  /** An owner is of the same namespace, or of none. */
  ownerOf(dependent: GraphNode, uid: string): GraphNode | undefined;
  dependentsOf(uid: string): readonly GraphNode[];
  inNamespace(namespace: string): Iterable<GraphNode>;
  countIn(namespace: string): number;
  update(change: Change): GraphNode;
}

export const FOREGROUND = 'foregroundDeletion';
export const ORPHAN = 'orphan';

const toNode = (resource: Resource, { metadata }: StoredObject): GraphNode => {
  const finalizers = metadata.deletionTimestamp == null ? [] : (metadata.finalizers ?? []);
  return {
    uid: metadata.uid,
    resource,
    namespace: metadata.namespace,
    name: metadata.name,
    owners: metadata.ownerReferences ?? [],
    waitsFor: finalizers.includes(ORPHAN) ? 'orphans' : finalizers.includes(FOREGROUND) ? 'dependents' : undefined,
    deleting: metadata.deletionTimestamp != null,
  };
};

export const createObjectGraph = (): ObjectGraph => {
  const objects = new Map<string, GraphNode>();
  const dependents = createGroupedMap<GraphNode>();
  const namespaces = createGroupedMap<GraphNode>();
  return {
    get: (uid) => objects.get(uid),
    ownerOf({ namespace }, uid) {
      const owner = objects.get(uid);
      return owner?.namespace === undefined || owner.namespace === namespace ? owner : undefined;
    },
    dependentsOf: (uid) => [...dependents.get(uid).values()],
    inNamespace: (namespace) => [...namespaces.get(namespace).values()],
    countIn: (namespace) => namespaces.get(namespace).size,
    update({ type, resource, object }) {
      const node = toNode(resource, object);
      const before = objects.get(node.uid);
      for (const { uid } of before?.owners ?? [])
        if (type === 'DELETED' || !node.owners.some((owner) => owner.uid === uid)) dependents.delete(uid, node.uid);
      if (type === 'DELETED') {
        objects.delete(node.uid);
        if (node.namespace !== undefined) namespaces.delete(node.namespace, node.uid);
        return node;
      }
      objects.set(node.uid, node);
      for (const { uid } of node.owners) dependents.set(uid, node.uid, node);
      if (node.namespace !== undefined) namespaces.set(node.namespace, node.uid, node);
      return node;
    },
  };
};
