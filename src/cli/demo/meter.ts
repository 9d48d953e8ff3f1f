/** A pod of the DaemonSet, as far as the meter looks at it. */
export interface PodSight {
  uid: string;
  name: string;
  node: string;
  image: string;
  /** Ready, and not on its way out. */
  up: boolean;
  deleting: boolean;
}

/** A pod that was told to end, in the order in which it was seen. */
export interface Take {
  node: string;
  pod: string;
  uid: string;
}

export interface MeterOptions {
  /** Share of the online nodes that may be down at once, above 0. */
  share: number;
  /** A node that came back counts from then on, in milliseconds: its pod is not yet heard of before that. */
  settleMs: number;
  now: () => number;
}

/**
 * Counts, from nodes and pods alone, how many online nodes are down at once, and notes every breach of the budget and
 * every act on a node that is offline. It knows nothing of the manager, its records and its words.
 */
export const createMeter = ({ share, settleMs, now }: MeterOptions) => {
  const nodes = new Map<string, { ready: boolean; since: number }>();
  const pods = new Map<string, PodSight>();
  /** Nodes that have run a pod of ours before: the first start is nobody's downtime. */
  const served = new Set<string>();
  const takes: Take[] = [];
  const breaches: string[] = [];
  let mostDown = 0;
  let limitThen = 0;

  const limit = (): number => {
    const online = served
      .values()
      .filter((name) => nodes.get(name)?.ready)
      .toArray().length;
    return Math.max(1, Math.ceil(online * share));
  };
  const down = (): string[] => {
    const up = new Set(
      pods
        .values()
        .filter((pod) => pod.up)
        .map((pod) => pod.node),
    );
    return [...served].filter((name) => {
      const node = nodes.get(name);
      return node?.ready && now() - node.since >= settleMs && !up.has(name);
    });
  };
  const look = (): void => {
    const names = down();
    const allowed = limit();
    if (names.length > mostDown) {
      mostDown = names.length;
      limitThen = allowed;
      if (names.length > allowed)
        breaches.push(
          `${names.length} online nodes were down at once (${names.toSorted().join(', ')}), ${allowed} may be`,
        );
    }
  };
  const taken = (pod: PodSight): void => {
    takes.push({ node: pod.node, pod: pod.name, uid: pod.uid });
    if (nodes.get(pod.node)?.ready === false)
      breaches.push(`pod ${pod.name} was told to end although its node ${pod.node} is offline`);
  };

  return {
    node(name: string, ready: boolean): void {
      const before = nodes.get(name);
      // A node that is ready when it is first seen has long been so.
      const since = before === undefined ? Number.NEGATIVE_INFINITY : now();
      if (before?.ready !== ready) nodes.set(name, { ready, since });
      look();
    },
    pod(pod: PodSight): void {
      const before = pods.get(pod.uid);
      pods.set(pod.uid, pod);
      if (pod.up) served.add(pod.node);
      if (pod.deleting && !before?.deleting) taken(pod);
      look();
    },
    podGone(uid: string): void {
      const pod = pods.get(uid);
      pods.delete(uid);
      if (pod && !pod.deleting) taken(pod);
      look();
    },
    /** Settle times end without an event. */
    look,
    pods: (): IterableIterator<PodSight> => pods.values(),
    isOnline: (name: string): boolean => nodes.get(name)?.ready ?? false,
    takes: (): readonly Take[] => takes,
    breaches: (): readonly string[] => breaches,
    /** The most nodes that were down at once, and how many were allowed then. */
    peak: (): { down: number; limit: number } => ({ down: mostDown, limit: limitThen || limit() }),
    /** Online nodes that are down now. */
    down,
    limit,
  };
};
export type Meter = ReturnType<typeof createMeter>;
