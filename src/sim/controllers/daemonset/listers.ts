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

/** What the DaemonSet controller's watches have told it. */
export interface Listers {
  readonly daemonSets: ByName<StoredDaemonSet>;
  /** In the order in which they joined. */
  readonly nodes: ReadonlyMap<string, NodeInfo>;
  /** Controlled by this object, by pod name. */
  podsOf(uid: string): ByName<StoredPod>;
  /** Bound to this node, whoever controls them. */
  podsOn(node: string): Iterable<StoredPod>;
  revisionsOf(uid: string): ByName<StoredRevision>;
  /** Of a namespace, controlled by nobody. */
  orphanPods(namespace: string): ByName<StoredPod>;
  orphanRevisions(namespace: string): ByName<StoredRevision>;
}

/** Called after what they hear of has been taken in, and not for what is there from the beginning. */
export interface ListerHandlers {
  daemonSet(event: InformerEvent<StoredDaemonSet>): void;
  pod(event: InformerEvent<StoredPod>): void;
  revision(event: InformerEvent<StoredRevision>): void;
  /** It came, or changed its labels or taints. Of a node that goes nothing is told, as by the real controller. */
  node(node: NodeInfo): void;
}

const sameData = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

/** Files objects under whoever controls them. */
const createShelf = <T extends StoredPod | StoredRevision>() => {
  const owned = new Map<string, ByName<T>>();
  const orphans = new Map<string, ByName<T>>();
  const shelfOf = (object: T): ByName<T> => {
    const owner = controllerOf(object);
    const [map, key] = owner ? [owned, owner.uid] : [orphans, object.metadata.namespace];
    let shelf = map.get(key);
    if (!shelf) {
      shelf = new Map();
      map.set(key, shelf);
    }
    return shelf;
  };
  const drop = (object: T): void => {
    const shelf = shelfOf(object);
    shelf.delete(object.metadata.name);
    if (shelf.size > 0) return;
    owned.delete(controllerOf(object)?.uid ?? '');
    if (!controllerOf(object)) orphans.delete(object.metadata.namespace);
  };
  return {
    take({ type, object, previous }: InformerEvent<T>): void {
      if (type === 'DELETED') drop(object);
      else {
        if (previous && controllerOf(previous)?.uid !== controllerOf(object)?.uid) drop(previous);
        shelfOf(object).set(object.metadata.name, object);
      }
    },
    owned: (uid: string): ByName<T> => owned.get(uid) ?? new Map(),
    orphans: (namespace: string): ByName<T> => orphans.get(namespace) ?? new Map(),
  };
};

export const createListers = (informers: Informers, handlers: ListerHandlers): Listers => {
  const sets: ByName<StoredDaemonSet> = new Map();
  const views = new Map<string, NodeInfo>();
  const podShelf = createShelf<StoredPod>();
  const bound = new Map<string, ByName<StoredPod>>();
  let live = false;
  const revisionShelf = createShelf<StoredRevision>();

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
    revisionShelf.take(event);
    if (live) handlers.revision(event);
  });
  informers.addHandler(pods, (event: InformerEvent<StoredPod>) => {
    podShelf.take(event);
    fileByNode(event);
    if (live) handlers.pod(event);
  });
  live = true;

  return {
    daemonSets: sets,
    nodes: views,
    podsOf: podShelf.owned,
    podsOn: (node) => bound.get(node)?.values() ?? [],
    revisionsOf: revisionShelf.owned,
    orphanPods: podShelf.orphans,
    orphanRevisions: revisionShelf.orphans,
  };
};
