import { isDeepStrictEqual } from 'node:util';
import type { ReconcilerContext } from '../../../controller/index.ts';
import { keyOf } from '../../../kube/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import type { CachedPod } from '../podcontrol/cached-pod.ts';

/** What the sync of every node depends on: when it changes, all nodes are dirty. */
export interface SyncInputs extends Pick<AdvancedView, 'policy' | 'preDelete' | 'preDeleteTimeoutMs' | 'deleted'> {
  hash: string | undefined;
  blocked: boolean;
}

/**
 * When a synced node is dirty again without an event: at the next reconcile, because nobody can tell when it changes; or
 * once pods may be created, which many nodes can wait for at the same time.
 */
export type Requeue = 'next reconcile' | 'creation' | undefined;

const NEVER = Number.POSITIVE_INFINITY;

export interface DirtyNodes {
  addNode: (name: string) => void;
  /** Returns whether the pod is still in the cache. */
  addPod(cached: CachedPod): boolean;
  podsOn(node: string): CachedPod[];
  /** The nodes to sync now. Vacant nodes are included only if pods may be created. */
  due(inputs: SyncInputs, mayCreate: boolean, now: number): readonly string[];
  /** The node was synced. It is due again at `at`, epoch ms (Infinity for never), or as `requeue` says. */
  synced(node: string, at: number, requeue: Requeue): void;
  hasVacantNodes: () => boolean;
  /** When the next node is due, epoch ms; Infinity for never. */
  nextDueAt(now: number): number;
}

/** The queue of nodes to sync: those with an event, and those that are due. Also indexes the pods by node. */
export const createDirtyNodes = ({
  nodes,
  pods,
  view,
}: Pick<ReconcilerContext<AdvancedView, CachedPod>, 'nodes' | 'pods' | 'view'>): DirtyNodes => {
  const dirty = new Set<string>();
  /** Nodes that only lack a pod. All nodes do when a DaemonSet is new, so they are synced only when creation is possible. */
  const vacant = new Set<string>();
  /** By node: when time alone makes it dirty, epoch ms. */
  const dueAt = new Map<string, number>();
  /** By node: keys of its pods. */
  const podKeys = new Map<string, Set<string>>();
  let lastInputs: SyncInputs | undefined;

  return {
    addNode: (name) => void dirty.add(name),
    addPod({ facts }) {
      const key = keyOf({ metadata: { namespace: view().namespace, name: facts.name } });
      dirty.add(facts.node);
      const keys = podKeys.get(facts.node);
      if (keys) keys.add(key);
      else podKeys.set(facts.node, new Set([key]));
      return pods.get(key)?.facts.uid === facts.uid;
    },
    podsOn(node) {
      const keys = podKeys.get(node);
      if (!keys) return [];
      const found: CachedPod[] = [];
      for (const key of keys) {
        const cached = pods.get(key);
        if (cached?.facts.node === node) found.push(cached);
        else keys.delete(key);
      }
      if (keys.size === 0) podKeys.delete(node);
      return found;
    },
    due({ hash, blocked, policy, preDelete, preDeleteTimeoutMs, deleted }, mayCreate, now) {
      const inputs = { hash, blocked, policy, preDelete, preDeleteTimeoutMs, deleted };
      if (!isDeepStrictEqual(lastInputs, inputs)) {
        lastInputs = inputs;
        for (const node of nodes.values()) dirty.add(node.name);
        for (const node of podKeys.keys()) dirty.add(node);
      }
      for (const [node, at] of dueAt) if (at <= now) dirty.add(node);
      if (mayCreate) {
        for (const node of vacant) dirty.add(node);
        vacant.clear();
      }
      return [...dirty];
    },
    synced(node, at, requeue) {
      if (requeue !== 'next reconcile') dirty.delete(node);
      if (requeue === 'creation') vacant.add(node);
      else vacant.delete(node);
      if (at === NEVER) dueAt.delete(node);
      else dueAt.set(node, at);
    },
    hasVacantNodes: () => vacant.size > 0,
    nextDueAt(now) {
      let earliest = NEVER;
      for (const at of dueAt.values()) earliest = Math.min(earliest, Math.max(at, now));
      return earliest;
    },
  };
};
