import type { OwnerReference } from 'kubernetes-types/meta/v1.d.ts';
import type { Resource } from '../../kube/index.ts';
import type { Change, StoredObject } from '../types.ts';

/** Where an object is, and whom it belongs to. */
export interface GraphNode {
  readonly uid: string;
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly owners: readonly OwnerReference[];
  /** Finalizers that concern the garbage collector. */
  readonly waitsFor: 'dependents' | 'orphans' | undefined;
  readonly deleting: boolean;
}

/** Who belongs to whom, and what is in which namespace. Events are left out: nothing owns them and they own nothing. */
export interface ObjectGraph {
  get(uid: string): GraphNode | undefined;
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
  const dependents = new Map<string, Map<string, GraphNode>>();
  const namespaces = new Map<string, Map<string, GraphNode>>();
  const file = (map: Map<string, Map<string, GraphNode>>, key: string, node: GraphNode): void => {
    const shelf = map.get(key);
    if (shelf) shelf.set(node.uid, node);
    else map.set(key, new Map([[node.uid, node]]));
  };
  const unfile = (map: Map<string, Map<string, GraphNode>>, key: string, uid: string): void => {
    const shelf = map.get(key);
    shelf?.delete(uid);
    if (shelf?.size === 0) map.delete(key);
  };
  return {
    get: (uid) => objects.get(uid),
    dependentsOf: (uid) => [...(dependents.get(uid)?.values() ?? [])],
    inNamespace: (namespace) => [...(namespaces.get(namespace)?.values() ?? [])],
    countIn: (namespace) => namespaces.get(namespace)?.size ?? 0,
    update({ type, resource, object }) {
      const node = toNode(resource, object);
      const before = objects.get(node.uid);
      for (const { uid } of before?.owners ?? [])
        if (type === 'DELETED' || !node.owners.some((owner) => owner.uid === uid)) unfile(dependents, uid, node.uid);
      if (type === 'DELETED') {
        objects.delete(node.uid);
        if (node.namespace !== undefined) unfile(namespaces, node.namespace, node.uid);
        return node;
      }
      objects.set(node.uid, node);
      for (const { uid } of node.owners) file(dependents, uid, node);
      if (node.namespace !== undefined) file(namespaces, node.namespace, node);
      return node;
    },
  };
};
