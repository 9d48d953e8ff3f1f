/** A pod of the DaemonSet. */
export interface PodState {
  uid: string;
  name: string;
  node: string;
  image: string;
  /** Ready, and not being deleted. */
  up: boolean;
  deleting: boolean;
}

/** A pod whose deletion was observed. */
export interface Deletion {
  node: string;
  pod: string;
  uid: string;
}

export interface AvailabilityOptions {
  /** Fraction of the online nodes that may be down at once, above 0. */
  share: number;
  /** A node that comes back counts after this time, in milliseconds: its pod needs a moment to report. */
  settleMs: number;
  now: () => number;
}

export interface Availability {
  setNode(name: string, ready: boolean): void;
  setPod(pod: PodState): void;
  removePod(uid: string): void;
  /** Call it now and then: settle times pass without an event. */
  update: () => void;
  pods: () => readonly PodState[];
  isOnline: (node: string) => boolean;
  deletions: () => readonly Deletion[];
  violations: () => readonly string[];
  /** The most nodes that were down at once, and the limit at that time. */
  peak: () => { down: number; limit: number };
  /** Online nodes that are down now. */
  down: () => string[];
}

/**
 * Counts, from nodes and pods alone, how many online nodes are down at once, and records every violation of the budget
 * and every deletion on an offline node. It is independent of the manager and its records.
 */
export const createAvailability = ({ share, settleMs, now }: AvailabilityOptions): Availability => {
  const nodes = new Map<string, { ready: boolean; since: number }>();
  const pods = new Map<string, PodState>();
  /** Nodes that have had a Ready pod: before its first start, a node isn't down. */
  const started = new Set<string>();
  const deletions: Deletion[] = [];
  const violations: string[] = [];
  let peak = { down: 0, limit: 0 };

  const limit = (): number => {
    const online = [...started].filter((name) => nodes.get(name)?.ready);
    return Math.max(1, Math.ceil(online.length * share));
  };
  const down = (): string[] => {
    const up = new Set(Array.from(pods.values(), (pod) => (pod.up ? pod.node : '')));
    return [...started].filter((name) => {
      const node = nodes.get(name);
      return node?.ready && now() - node.since >= settleMs && !up.has(name);
    });
  };
  const update = (): void => {
    const names = down();
    if (names.length <= peak.down) return;
    peak = { down: names.length, limit: limit() };
    if (peak.down > peak.limit)
      violations.push(
        `${peak.down} online nodes were down at once (${names.toSorted().join(', ')}), the limit is ${peak.limit}`,
      );
  };
  const recordDeletion = ({ node, name, uid }: PodState): void => {
    deletions.push({ node, pod: name, uid });
    if (nodes.get(node)?.ready === false)
      violations.push(`pod ${name} was deleted although its node ${node} is offline`);
  };

  return {
    setNode(name, ready) {
      const before = nodes.get(name);
      // A node that is Ready when first seen has been Ready for a while.
      const since = before === undefined ? Number.NEGATIVE_INFINITY : now();
      if (before?.ready !== ready) nodes.set(name, { ready, since });
      update();
    },
    setPod(pod) {
      const before = pods.get(pod.uid);
      pods.set(pod.uid, pod);
      if (pod.up) started.add(pod.node);
      if (pod.deleting && !before?.deleting) recordDeletion(pod);
      update();
    },
    removePod(uid) {
      const pod = pods.get(uid);
      pods.delete(uid);
      if (pod && !pod.deleting) recordDeletion(pod);
      update();
    },
    update,
    pods: () => [...pods.values()],
    isOnline: (name) => nodes.get(name)?.ready ?? false,
    deletions: () => deletions,
    violations: () => violations,
    peak: () => ({ ...peak, limit: peak.limit || limit() }),
    down,
  };
};
