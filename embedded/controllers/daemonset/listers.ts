import { controllerRevisions, daemonSets, pods } from '../../../src/kube/index.ts';
import type { NodeInfo } from '../../../src/rollout/index.ts';
import { controllerOf } from '../../../src/rollout/index.ts';
import { createGroupedMap, type GroupedMap } from '../../grouped-map.ts';
import type { StoredDaemonSet, StoredPod, StoredRevision } from '../../resources.ts';
import { createNodeInfos, createPodsByNode } from '../indexes.ts';
import type { InformerEvent, Informers } from '../informers.ts';

type ByName<T> = ReadonlyMap<string, T>;

/** The DaemonSet controller's caches. */
export interface Listers {
  readonly daemonSets: ByName<StoredDaemonSet>;
  /** In the order in which they were added. */
  readonly nodes: ReadonlyMap<string, NodeInfo>;
  /** By pod name, of the controller with this UID. */
  podsOf(namespace: string, uid: string): ByName<StoredPod>;
  /** All pods bound to this node, whichever controller they have. */
  podsOn(node: string): readonly StoredPod[];
  revisionsOf(namespace: string, uid: string): ByName<StoredRevision>;
  /** Pods of a namespace without a controller. */
  orphanPods(namespace: string): ByName<StoredPod>;
  orphanRevisions(namespace: string): ByName<StoredRevision>;
}

/** Called after the caches are updated, and not for the initial list. */
export interface ListerHandlers {
  daemonSet(event: InformerEvent<StoredDaemonSet>): void;
  pod(event: InformerEvent<StoredPod>): void;
  revision(event: InformerEvent<StoredRevision>): void;
  /** A node was added, or its labels or taints changed. As in the built-in controller, deletions aren't handled. */
  node(node: NodeInfo): void;
}

const ownedKey = (namespace: string, uid: string): string => `${namespace}/${uid}`;

/** Objects by their controller, which is of their namespace, and orphans by namespace. */
const createOwnerIndex = <T extends StoredPod | StoredRevision>() => {
  const owned = createGroupedMap<T>();
  const orphans = createGroupedMap<T>();
  const groupOf = (object: T): [GroupedMap<T>, string] => {
    const owner = controllerOf(object);
    const { namespace } = object.metadata;
    return owner ? [owned, ownedKey(namespace, owner.uid)] : [orphans, namespace];
  };
  const remove = (object: T): void => {
    const [map, group] = groupOf(object);
    map.delete(group, object.metadata.name);
  };
  return {
    update({ type, object, previous }: InformerEvent<T>): void {
      if (type === 'DELETED') {
        remove(object);
        return;
      }
      if (previous && controllerOf(previous)?.uid !== controllerOf(object)?.uid) remove(previous);
      const [map, group] = groupOf(object);
      map.set(group, object.metadata.name, object);
    },
    owned: (namespace: string, uid: string): ByName<T> => owned.get(ownedKey(namespace, uid)),
    orphans: (namespace: string): ByName<T> => orphans.get(namespace),
  };
};

export const createListers = (informers: Informers, handlers: ListerHandlers): Listers => {
  const sets = new Map<string, StoredDaemonSet>();
  const podIndex = createOwnerIndex<StoredPod>();
  const revisionIndex = createOwnerIndex<StoredRevision>();
  let live = false;
  const nodeInfos = createNodeInfos(informers, (node) => {
    if (live) handlers.node(node);
  });
  informers.addHandler(daemonSets, (event: InformerEvent<StoredDaemonSet>) => {
    const key = `${event.object.metadata.namespace}/${event.object.metadata.name}`;
    if (event.type === 'DELETED') sets.delete(key);
    else sets.set(key, event.object);
    if (live) handlers.daemonSet(event);
  });
  informers.addHandler(controllerRevisions, (event: InformerEvent<StoredRevision>) => {
    revisionIndex.update(event);
    if (live) handlers.revision(event);
  });
  const podsOn = createPodsByNode(informers);
  informers.addHandler(pods, (event: InformerEvent<StoredPod>) => {
    podIndex.update(event);
    if (live) handlers.pod(event);
  });
  live = true;

  return {
    daemonSets: sets,
    nodes: nodeInfos,
    podsOf: podIndex.owned,
    podsOn,
    revisionsOf: revisionIndex.owned,
    orphanPods: podIndex.orphans,
    orphanRevisions: revisionIndex.orphans,
  };
};
