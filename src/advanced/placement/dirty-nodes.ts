import { isDeepStrictEqual } from 'node:util';
import type { ReconcilerContext } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import type { CachedPod } from '../podcontrol/cached-pod.ts';

/** What every node is measured by; when it changes all are looked at. */
export interface SyncInputs extends Pick<AdvancedView, 'policy' | 'preDelete' | 'preDeleteTimeoutMs' | 'deleted'> {
  hash: string | undefined;
  blocked: boolean;
}

/** `each pass`: nobody can say when. `creation`: when pods may be created again, which all nodes wait for at once. */
export type Requeue = 'each pass' | 'creation' | undefined;

const NEVER = Number.POSITIVE_INFINITY;

/** Which nodes to look at: those that an event was about, and those whose turn has come; and what pods they have. */
export const createDirtyNodes = ({
  nodes,
  pods,
  view,
}: Pick<ReconcilerContext<AdvancedView, CachedPod>, 'nodes' | 'pods' | 'view'>) => {
  const open = new Set<string>();
  /** Nodes that want a pod and nothing else: as many as there are when a DaemonSet is new, so not looked at in vain. */
  const vacant = new Set<string>();
  /** By node: when time alone changes what it is; epoch ms. */
  const due = new Map<string, number>();
  /** Keys of the pods for each node. */
  const byNode = new Map<string, Set<string>>();
  let measured: SyncInputs | undefined;

  return {
    addNode: (name: string): void => void open.add(name),
    /** False: the pod is there no more. */
    addPod({ facts }: CachedPod): boolean {
      const key = keyOf({ metadata: { namespace: view().namespace, name: facts.name } });
      open.add(facts.node);
      const keys = byNode.get(facts.node);
      if (keys) keys.add(key);
      else byNode.set(facts.node, new Set([key]));
      return pods.get(key)?.facts.uid === facts.uid;
    },
    podsOn(node: string): CachedPod[] {
      const keys = byNode.get(node);
      if (!keys) return [];
      const found: CachedPod[] = [];
      for (const key of keys) {
        const kept = pods.get(key);
        if (kept?.facts.node === node) found.push(kept);
        else keys.delete(key);
      }
      if (keys.size === 0) byNode.delete(node);
      return found;
    },
    /** The nodes to look at now; those that want a pod only when it may be created. */
    due(
      { hash, blocked, policy, preDelete, preDeleteTimeoutMs, deleted }: SyncInputs,
      mayCreate: boolean,
      now: number,
    ): readonly string[] {
      const next = { hash, blocked, policy, preDelete, preDeleteTimeoutMs, deleted };
      if (!isDeepStrictEqual(measured, next)) {
        measured = next;
        for (const node of nodes.values()) open.add(node.name);
        for (const node of byNode.keys()) open.add(node);
      }
      for (const [node, at] of due) if (at <= now) open.add(node);
      if (mayCreate) {
        for (const node of vacant) open.add(node);
        vacant.clear();
      }
      return [...open];
    },
    /** The node was looked at: to be so again at a time, epoch ms (Infinity: when something happens), or before. */
    synced(node: string, at: number, again: Requeue): void {
      if (again !== 'each pass') open.delete(node);
      if (again === 'creation') vacant.add(node);
      else vacant.delete(node);
      if (at === NEVER) due.delete(node);
      else due.set(node, at);
    },
    /** Nodes wait for a pod to be created. */
    awaitsCreation: (): boolean => vacant.size > 0,
    /** When the earliest turn comes, epoch ms; Infinity for never. */
    nextDueAt(now: number): number {
      let least = NEVER;
      for (const at of due.values()) least = Math.min(least, Math.max(at, now));
      return least;
    },
  };
};
export type DirtyNodes = ReturnType<typeof createDirtyNodes>;
