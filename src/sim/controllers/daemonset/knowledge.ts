import type { NodeView } from '../../../rollout/index.ts';
import { controllerOf, toNodeView } from '../../../rollout/index.ts';
import {
  controllerRevisions,
  daemonSets,
  type KeptDaemonSet,
  type KeptNode,
  type KeptPod,
  type KeptRevision,
  nodes,
  pods,
} from '../../resources.ts';
import type { Feed, Sight } from '../feed.ts';

type ByName<T> = Map<string, T>;

/** What the DaemonSet controller's watches have told it. */
export interface Knowledge {
  readonly daemonSets: ByName<KeptDaemonSet>;
  /** In the order in which they joined. */
  readonly nodes: ReadonlyMap<string, NodeView>;
  /** Controlled by this object, by pod name. */
  podsOf(uid: string): ByName<KeptPod>;
  /** Bound to this node, whoever controls them. */
  podsOn(node: string): Iterable<KeptPod>;
  revisionsOf(uid: string): ByName<KeptRevision>;
  /** Of a namespace, controlled by nobody. */
  orphanPods(namespace: string): ByName<KeptPod>;
  orphanRevisions(namespace: string): ByName<KeptRevision>;
}

/** Called after what they hear of has been taken in, and not for what is there from the beginning. */
export interface KnowledgeHandlers {
  daemonSet(sight: Sight<KeptDaemonSet>): void;
  pod(sight: Sight<KeptPod>): void;
  revision(sight: Sight<KeptRevision>): void;
  /** It came, or changed its labels or taints. Of a node that goes nothing is told, as by the real controller. */
  node(node: NodeView): void;
}

const sameData = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

/** Files objects under whoever controls them. */
const createShelf = <T extends KeptPod | KeptRevision>() => {
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
    take({ type, object, previous }: Sight<T>): void {
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

export const followFeed = (feed: Feed, handlers: KnowledgeHandlers): Knowledge => {
  const sets: ByName<KeptDaemonSet> = new Map();
  const views = new Map<string, NodeView>();
  const podShelf = createShelf<KeptPod>();
  const bound = new Map<string, ByName<KeptPod>>();
  let live = false;
  const revisionShelf = createShelf<KeptRevision>();

  const fileByNode = ({ type, object }: Sight<KeptPod>): void => {
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

  feed.on(nodes, (sight: Sight<KeptNode>) => {
    const { name } = sight.object.metadata;
    const before = views.get(name);
    if (sight.type === 'DELETED') {
      views.delete(name);
      return;
    }
    const { object, previous } = sight;
    if (
      before &&
      previous &&
      sameData(object.metadata.labels, previous.metadata.labels) &&
      sameData(object.spec?.taints, previous.spec?.taints)
    )
      return;
    const view = toNodeView(object);
    views.set(name, view);
    if (live) handlers.node(view);
  });
  feed.on(daemonSets, (sight: Sight<KeptDaemonSet>) => {
    const key = `${sight.object.metadata.namespace}/${sight.object.metadata.name}`;
    if (sight.type === 'DELETED') sets.delete(key);
    else sets.set(key, sight.object);
    if (live) handlers.daemonSet(sight);
  });
  feed.on(controllerRevisions, (sight: Sight<KeptRevision>) => {
    revisionShelf.take(sight);
    if (live) handlers.revision(sight);
  });
  feed.on(pods, (sight: Sight<KeptPod>) => {
    podShelf.take(sight);
    fileByNode(sight);
    if (live) handlers.pod(sight);
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
