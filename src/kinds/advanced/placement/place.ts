import { type FinishedPods, mayReplaceAt } from './failed-pod-backoff.ts';

/** A node as placement sees it. */
export interface PlaceableNode {
  name: string;
  /** Condition Ready is True. */
  online: boolean;
  /** A pod is created if there is none. */
  shouldRun: boolean;
  /** An existing pod may stay. */
  shouldContinueRunning: boolean;
}

/** A pod of the DaemonSet as placement sees it: a deleted terminal one is none. */
export interface PlacedPod {
  name: string;
  uid: string;
  /** The node that it is bound or pinned to. */
  node: string;
  bound: boolean;
  /** Epoch ms. */
  createdAt: number;
  terminating: boolean;
  /** Its removal has started: its preDelete hook was called, or the delete is in flight. */
  removing: boolean;
  /** The terminal phase, if it has reached one. */
  finished: 'Failed' | 'Succeeded' | undefined;
  /** Label controller-revision-hash. */
  revision: string;
}

/** Why a pod is removed, for Events. */
export type RemovalReason = 'not-eligible' | 'duplicate' | 'failed' | 'succeeded' | 'node-gone';

export interface Creation {
  node: string;
  /** UID of the pod that it replaces, if that one is still there. */
  replaces: string | undefined;
  /** Hash label of the revision to create, if it is not the current one. */
  revision?: string;
  annotations?: Readonly<Record<string, string>>;
}

export interface Removal {
  pod: PlacedPod;
  why: RemovalReason;
  /** Of a duplicate: the pod that stays. */
  keeps?: PlacedPod;
}

export interface PlacementInput {
  nodes: readonly PlaceableNode[];
  /** All pods of the DaemonSet, terminating ones included. */
  pods: readonly PlacedPod[];
  /** Hash label of the current revision. */
  revision: string;
  /** By node: the hash label of the older revision that a new pod gets there. */
  held?: ReadonlyMap<string, string>;
  /** Nodes that may have an old and a new pod at the same time. */
  surging: ReadonlySet<string>;
  /** How many pods may be created now. */
  maxCreated: number;
  /** How many removals may start now, in addition to those that have started. */
  maxRemoved: number;
  /** How many online nodes that are no longer eligible may lose their pod at the same time. */
  maxLeaving: number;
  /** How many nodes may have a pod of the current revision; Infinity without progressive creation. */
  maxUpdated: number;
  /** By node: the back-off after pods that finished there. */
  finished: ReadonlyMap<string, FinishedPods>;
  now: number;
}

export interface Placement {
  create: readonly Creation[];
  remove: readonly Removal[];
  /** When time alone changes the result, epoch ms; Infinity for never. */
  wakeAt: number;
}

/** The pod to keep comes first: not being removed, bound, then the oldest. */
const byPreference = (a: PlacedPod, b: PlacedPod): number =>
  Number(a.removing) - Number(b.removing) ||
  Number(b.bound) - Number(a.bound) ||
  a.createdAt - b.createdAt ||
  (a.name < b.name ? -1 : 1);

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

const groupByNode = (pods: readonly PlacedPod[]): ReadonlyMap<string, readonly PlacedPod[]> =>
  Map.groupBy(pods, ({ node }) => node);

/**
 * Surplus live pods of one node. On a surging node only pods of the current revision count: the rollout decides when an
 * old pod goes, and two places that decide would each remove the pod that the other one keeps.
 */
const duplicates = (live: readonly PlacedPod[], revision: string, surging: boolean): readonly Removal[] => {
  const candidates = surging ? live.filter((pod) => pod.revision === revision) : live;
  const [keeps, ...others] = candidates.toSorted(byPreference);
  return others.map((pod) => ({ pod, why: 'duplicate', ...(keeps && { keeps }) }));
};

/**
 * Which pods to create and to remove, apart from updates: one live pod on every eligible node, none elsewhere. Depends only
 * on the observed state, so repeated calls agree, and the result is empty once everything is in place.
 */
export const place = (input: PlacementInput): Placement => {
  const { revision, surging, finished, now } = input;
  const byNode = groupByNode(input.pods);
  const known = new Set(input.nodes.map(({ name }) => name));
  const remove: Removal[] = [];
  const leaving: Removal[] = [];
  const vacant: { node: PlaceableNode; replaces: string | undefined }[] = [];
  let wakeAt = Number.POSITIVE_INFINITY;
  let alreadyLeaving = 0;

  // The pod garbage collector deletes bound pods of deleted nodes, but not unbound ones.
  for (const [name, pods] of byNode)
    if (!known.has(name))
      for (const pod of pods) if (!pod.bound && !pod.terminating) remove.push({ pod, why: 'node-gone' });

  for (const node of input.nodes.toSorted(byName)) {
    const pods = byNode.get(node.name) ?? [];
    const staying = pods.filter(({ terminating }) => !terminating);
    if (!node.shouldContinueRunning) {
      if (node.online) alreadyLeaving += pods.length - staying.length;
      for (const pod of staying) (node.online ? leaving : remove).push({ pod, why: 'not-eligible' });
      continue;
    }
    const ended = staying.filter((pod) => pod.finished !== undefined);
    const live = staying.filter((pod) => pod.finished === undefined);
    const previous = finished.get(node.name);
    const replaceAt = Math.max(now, ...ended.map((pod) => mayReplaceAt(previous, pod.revision, now)));
    if (now >= replaceAt)
      for (const pod of ended) remove.push({ pod, why: pod.finished === 'Failed' ? 'failed' : 'succeeded' });
    else wakeAt = Math.min(wakeAt, replaceAt);
    remove.push(...duplicates(live, revision, surging.has(node.name)));
    // A terminating pod occupies the node until it is gone, unless the new pod may start next to it.
    const occupied = pods.length > 0 && !(surging.has(node.name) && live.length === 0 && ended.length === 0);
    if (node.shouldRun && !occupied) vacant.push({ node, replaces: pods.at(-1)?.uid });
  }

  const startedLeaving = leaving.filter(({ pod }) => pod.removing);
  const mayLeave = Math.max(0, input.maxLeaving - alreadyLeaving - startedLeaving.length);
  const removals = [...remove, ...startedLeaving, ...leaving.filter(({ pod }) => !pod.removing).slice(0, mayLeave)];
  const updated = new Set(
    input.pods.flatMap((pod) => (pod.revision === revision && !pod.terminating ? [pod.node] : [])),
  );
  const inTurn = vacant
    // A pod on an offline node can't start: online nodes come first.
    .toSorted((a, b) => Number(b.node.online) - Number(a.node.online) || byName(a.node, b.node))
    .map(({ node, replaces }): Creation => {
      const older = input.held?.get(node.name);
      return { node: node.name, replaces, ...(older !== undefined && { revision: older }) };
    });
  const mayBeUpdated = inTurn.filter((creation) => creation.revision === undefined);
  const beyond = new Set(mayBeUpdated.slice(Math.max(0, input.maxUpdated - updated.size)));
  const create = inTurn.filter((creation) => !beyond.has(creation)).slice(0, Math.max(0, input.maxCreated));
  // A removal that has started continues: a hook that was called must not be told that the pod stays after all.
  const started = removals.filter(({ pod }) => pod.removing);
  const fresh = removals.filter(({ pod }) => !pod.removing).slice(0, Math.max(0, input.maxRemoved));
  return { create, remove: [...started, ...fresh], wakeAt };
};
