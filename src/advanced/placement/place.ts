import { type FinishedPods, mayReplaceAt } from './failed-pod-backoff.ts';

/** A node as placement sees it. */
export interface PlaceableNode {
  name: string;
  /** Condition Ready is True. */
  online: boolean;
  /** It gets a pod when it has none. */
  shouldRun: boolean;
  /** A pod that it has may stay. */
  shouldContinueRunning: boolean;
}

/** A pod of the DaemonSet as placement sees it. */
export interface PlacedPod {
  name: string;
  uid: string;
  /** Bound or pinned to. */
  node: string;
  bound: boolean;
  /** Epoch ms. */
  createdAt: number;
  terminating: boolean;
  /** Its removal has begun: its hook is asked, or its deletion is on its way. */
  removing: boolean;
  /** It has ended by itself. */
  finished: 'Failed' | 'Succeeded' | undefined;
  /** Label controller-revision-hash. */
  revision: string;
}

/** Why a pod is removed; the words are for Events. */
export type RemovalReason = 'not-eligible' | 'duplicate' | 'failed' | 'succeeded' | 'node-gone';

export interface Creation {
  node: string;
  /** UID of the pod beside or after which it comes; undefined where there is none. */
  replaces: string | undefined;
  /** What is noted on it. */
  annotations?: Readonly<Record<string, string>>;
}

export interface Removal {
  pod: PlacedPod;
  why: RemovalReason;
}

export interface PlacementInput {
  nodes: readonly PlaceableNode[];
  /** All that the DaemonSet owns, those that are ending included. */
  pods: readonly PlacedPod[];
  /** Hash label of the current revision: of several pods on a surging node the newest of it is one to keep. */
  revision: string;
  /** Nodes that may have an old and a new pod at once. */
  surging: ReadonlySet<string>;
  /** So many pods may be created now. */
  mostCreated: number;
  /** So many removals may begin now, beside those that have. */
  mostRemoved: number;
  /** Of pods whose online node stopped being eligible, so many are on their way out at a time. */
  maxLeaving: number;
  /** How many nodes may have a pod of the current revision at most; Infinity without progressive creation. */
  mostUpdated: number;
  /** By node: pods that ended by themselves there. */
  finished: ReadonlyMap<string, FinishedPods>;
  now: number;
}

export interface Placement {
  create: readonly Creation[];
  remove: readonly Removal[];
  /** When time alone changes the answer, epoch ms; Infinity for never. */
  wakeAt: number;
}

/** The pod to keep comes first: one whose removal has not begun, bound before unbound, then the oldest, ties by name. */
const byWorth = (a: PlacedPod, b: PlacedPod): number =>
  Number(a.removing) - Number(b.removing) ||
  Number(b.bound) - Number(a.bound) ||
  a.createdAt - b.createdAt ||
  (a.name < b.name ? -1 : 1);

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

const endedAs = (pod: PlacedPod): RemovalReason => (pod.finished === 'Failed' ? 'failed' : 'succeeded');

const grouped = (pods: readonly PlacedPod[]): ReadonlyMap<string, readonly PlacedPod[]> => {
  const byNode = new Map<string, PlacedPod[]>();
  for (const pod of pods) {
    const beside = byNode.get(pod.node);
    if (beside) beside.push(pod);
    else byNode.set(pod.node, [pod]);
  }
  return byNode;
};

/**
 * Live pods that are too many on one node. Where nodes surge, which of the old ones goes, and when, is the rollout's to
 * say: two that choose take away the pod that the other one keeps.
 */
const duplicates = (live: readonly PlacedPod[], revision: string, surging: boolean): readonly PlacedPod[] => {
  const ours = surging ? live.filter((pod) => pod.revision === revision) : live;
  return ours.toSorted(byWorth).slice(1);
};

/**
 * Which pods to create and which to remove, updates aside: one live pod on every eligible node, none elsewhere. The
 * answer depends on what is there alone, so it is the same for whoever asks, and empty once everything is in place.
 */
export const place = (input: PlacementInput): Placement => {
  const { revision, surging, finished, now } = input;
  const byNode = grouped(input.pods);
  const known = new Set(input.nodes.map(({ name }) => name));
  const remove: Removal[] = [];
  const leaving: Removal[] = [];
  const vacant: { node: PlaceableNode; replaces: string | undefined }[] = [];
  let wakeAt = Number.POSITIVE_INFINITY;
  let alreadyLeaving = 0;

  // The pod garbage collector takes those that are bound; nobody else ever takes the others.
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
    const ended = staying.filter(({ finished }) => finished !== undefined);
    const live = staying.filter(({ finished }) => finished === undefined);
    const before = finished.get(node.name);
    const mayAt = Math.max(now, ...ended.map((pod) => mayReplaceAt(before, pod.revision, now)));
    if (now >= mayAt) for (const pod of ended) remove.push({ pod, why: endedAs(pod) });
    else wakeAt = Math.min(wakeAt, mayAt);
    for (const pod of duplicates(live, revision, surging.has(node.name))) remove.push({ pod, why: 'duplicate' });
    // A pod that is on its way out keeps its place until it is gone, unless the new one may start beside it.
    const blocked = pods.length > 0 && !(surging.has(node.name) && live.length === 0 && ended.length === 0);
    if (node.shouldRun && !blocked) vacant.push({ node, replaces: pods.at(-1)?.uid });
  }

  const begun = leaving.filter(({ pod }) => pod.removing);
  const mayLeave = Math.max(0, input.maxLeaving - alreadyLeaving - begun.length);
  const wanted = [...remove, ...begun, ...leaving.filter(({ pod }) => !pod.removing).slice(0, mayLeave)];
  const updated = new Set(
    input.pods.flatMap((pod) => (pod.revision === revision && !pod.terminating ? [pod.node] : [])),
  );
  const create = vacant
    // A pod on a node that is offline starts only once it is back: the others are of more use.
    .toSorted((a, b) => Number(b.node.online) - Number(a.node.online) || byName(a.node, b.node))
    .slice(0, Math.max(0, Math.min(input.mostCreated, input.mostUpdated - updated.size)))
    .map(({ node, replaces }): Creation => ({ node: node.name, replaces }));
  // What has begun goes on: a hook that was asked must not be told that nothing is to go after all.
  const going = wanted.filter(({ pod }) => pod.removing);
  const fresh = wanted.filter(({ pod }) => !pod.removing).slice(0, Math.max(0, input.mostRemoved));
  return { create, remove: [...going, ...fresh], wakeAt };
};
