import { isEligible, type NodeInfo, nodeShouldRunDaemonPod, type PodFacts } from '../../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';

/**
 * What one node contributes to the status, which counts as the DaemonSet controller does: it wants no pod on an unreachable
 * node. `eligible`, `leaving` and `onCurrentRevision` determine the limits of placement.
 */
export interface NodeCounts {
  desired: number;
  /** As in the rollout: an offline node belongs to it. */
  eligible: number;
  current: number;
  misscheduled: number;
  ready: number;
  available: number;
  updated: number;
  /** Terminating pods on an online node that is not eligible. */
  leaving: number;
  /** 1 if it has a live pod of the current revision. */
  onCurrentRevision: number;
}

const none: NodeCounts = {
  desired: 0,
  eligible: 0,
  current: 0,
  misscheduled: 0,
  ready: 0,
  available: 0,
  updated: 0,
  leaving: 0,
  onCurrentRevision: 0,
};

const keys = Object.keys(none) as (keyof NodeCounts)[];

/** The pod of a node that counts: live before terminating, then the oldest. */
const countedPod = (pods: readonly PodFacts[]): PodFacts | undefined =>
  pods.toSorted((a, b) => Number(a.terminating) - Number(b.terminating) || a.createdAt - b.createdAt)[0];

/**
 * Counts one node. `changesAt`: when time alone changes the result, epoch ms; Infinity for never. `readySinceOf` returns the
 * time by our own clock for a pod's UID: the time in the pod's status is from another machine.
 */
export const countNode = (
  view: AdvancedView,
  node: NodeInfo | undefined,
  pods: readonly PodFacts[],
  hash: string | undefined,
  readySinceOf: (uid: string) => number | undefined,
  now: number,
): { counts: NodeCounts; changesAt: number } => {
  if (!node) return { counts: none, changesAt: Number.POSITIVE_INFINITY };
  const desired = nodeShouldRunDaemonPod(view.needs, node).shouldRun;
  const eligible = isEligible(view.needs, node);
  const pod = countedPod(pods);
  const live = pods.filter(({ terminating }) => !terminating);
  const isReady = desired && pod?.ready === true && !pod.terminating;
  const availableAt = isReady
    ? (readySinceOf(pod.uid) ?? now) + view.policy.policy.minReadyMs
    : Number.POSITIVE_INFINITY;
  const counts: NodeCounts = {
    desired: Number(desired),
    eligible: Number(eligible),
    current: Number(desired && pods.length > 0),
    misscheduled: Number(!desired && pods.length > 0),
    ready: Number(isReady),
    available: Number(availableAt <= now),
    updated: Number(desired && hash !== undefined && pod?.revision === hash),
    leaving: !eligible && node.ready ? pods.length - live.length : 0,
    onCurrentRevision: Number(hash !== undefined && live.some(({ revision }) => revision === hash)),
  };
  return { counts, changesAt: availableAt > now ? availableAt : Number.POSITIVE_INFINITY };
};

export interface StatusCounts {
  /** Of all nodes. */
  totals: Readonly<NodeCounts>;
  set(node: string, counts: NodeCounts | undefined): void;
  of: (node: string) => Readonly<NodeCounts>;
}

/** Totals that are updated one node at a time. */
export const createStatusCounts = (): StatusCounts => {
  const byNode = new Map<string, NodeCounts>();
  const totals: NodeCounts = { ...none };
  return {
    totals,
    set(node, counts) {
      const before = byNode.get(node) ?? none;
      for (const key of keys) totals[key] += (counts ?? none)[key] - before[key];
      if (counts) byNode.set(node, counts);
      else byNode.delete(node);
    },
    of: (node) => byNode.get(node) ?? none,
  };
};
