import type { NodeInfo } from '../../../rollout/index.ts';
import { controllerOf, toNodeInfo } from '../../../rollout/index.ts';
import {
  controllerRevisions,
  daemonSets,
  nodes,
  pods,
  type StoredDaemonSet,
  type StoredNode,
  type StoredPod,
  type StoredRevision,
} from '../../resources.ts';
import type { InformerEvent, Informers } from '../informers.ts';

type ByName<T> = Map<string, T>;

/** The DaemonSet controller's caches. */
export interface Listers {
  readonly daemonSets: ByName<StoredDaemonSet>;
  /** In the order in which they were added. */
  readonly nodes: ReadonlyMap<string, NodeInfo>;
  /** By pod name, of the controller with this UID. */
  podsOf(uid: string): ByName<StoredPod>;
  /** All pods bound to this node, whichever controller they have. */
  podsOn(node: string): Iterable<StoredPod>;
  revisionsOf(uid: string): ByName<StoredRevision>;
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

const sameData = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

/** Indexes objects by the UID of their controller, and orphans by namespace. */
const createIndex = <T extends StoredPod | StoredRevision>() => {
  const owned = new Map<string, ByName<T>>();
  const orphans = new Map<string, ByName<T>>();
  const groupOf = (object: T): ByName<T> => {
    const owner = controllerOf(object);
    const [map, key] = owner ? [owned, owner.uid] : [orphans, object.metadata.namespace];
    let group = map.get(key);
    if (!group) {
      group = new Map();
      map.set(key, group);
    }
    return group;
  };
  const drop = (object: T): void => {
    const group = groupOf(object);
    group.delete(object.metadata.name);
    if (group.size > 0) return;
    owned.delete(controllerOf(object)?.uid ?? '');
    if (!controllerOf(object)) orphans.delete(object.metadata.namespace);
  };
  return {
    take({ type, object, previous }: InformerEvent<T>): void {
      if (type === 'DELETED') drop(object);
      else {
        if (previous && controllerOf(previous)?.uid !== controllerOf(object)?.uid) drop(previous);
        groupOf(object).set(object.metadata.name, object);
      }
    },
    owned: (uid: string): ByName<T> => owned.get(uid) ?? new Map(),
    orphans: (namespace: string): ByName<T> => orphans.get(namespace) ?? new Map(),
  };
};

export const createListers = (informers: Informers, handlers: ListerHandlers): Listers => {
  const sets: ByName<StoredDaemonSet> = new Map();
  const views = new Map<string, NodeInfo>();
  const podIndex = createIndex<StoredPod>();
  const bound = new Map<string, ByName<StoredPod>>();
  let live = false;
  const revisionIndex = createIndex<StoredRevision>();

  const fileByNode = ({ type, object }: InformerEvent<StoredPod>): void => {
    const node = object.spec?.nodeName;
    if (!node) return;
    const { uid } = object.metadata;
    const present = bound.get(node);
    if (type !== 'DELETED') {
      if (present) present.set(uid, object);
      else bound.set(node, new Map([[uid, object]]));
      return;
    }
    present?.delete(uid);
    if (present?.size === 0) bound.delete(node);
  };

  informers.addHandler(nodes, (event: InformerEvent<StoredNode>) => {
    const { name } = event.object.metadata;
    const before = views.get(name);
    if (event.type === 'DELETED') {
      views.delete(name);
      return;
    }
    const { object, previous } = event;
    if (
      before &&
      previous &&
      sameData(object.metadata.labels, previous.metadata.labels) &&
      sameData(object.spec?.taints, previous.spec?.taints)
    )
      return;
    const view = toNodeInfo(object);
    views.set(name, view);
    if (live) handlers.node(view);
  });
  informers.addHandler(daemonSets, (event: InformerEvent<StoredDaemonSet>) => {
    const key = `${event.object.metadata.namespace}/${event.object.metadata.name}`;
    if (event.type === 'DELETED') sets.delete(key);
    else sets.set(key, event.object);
    if (live) handlers.daemonSet(event);
  });
  informers.addHandler(controllerRevisions, (event: InformerEvent<StoredRevision>) => {
    revisionIndex.take(event);
    if (live) handlers.revision(event);
  });
  informers.addHandler(pods, (event: InformerEvent<StoredPod>) => {
    podIndex.take(event);
    fileByNode(event);
    if (live) handlers.pod(event);
  });
  live = true;

  return {
    daemonSets: sets,
    nodes: views,
    podsOf: podIndex.owned,
    podsOn: (node) => bound.get(node)?.values() ?? [],
    revisionsOf: revisionIndex.owned,
    orphanPods: podIndex.orphans,
    orphanRevisions: revisionIndex.orphans,
  };
};
