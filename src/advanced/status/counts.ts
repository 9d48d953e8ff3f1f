import { isEligible, type NodeInfo, type PodFacts } from '../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';

/** What one node adds to the numbers of the DaemonSet's status; sums of it are what placement keeps to. */
export interface NodeCounts {
  desired: number;
  current: number;
  misscheduled: number;
  ready: number;
  available: number;
  updated: number;
  /** Pods that are ending on an online node which is not eligible. */
  leaving: number;
  /** It has a live pod of the current revision. */
  carrying: number;
}
export type TotalCounts = NodeCounts;

const none: NodeCounts = {
  desired: 0,
  current: 0,
  misscheduled: 0,
  ready: 0,
  available: 0,
  updated: 0,
  leaving: 0,
  carrying: 0,
};

const keys = Object.keys(none) as (keyof NodeCounts)[];

/** Of several pods the one that counts: a live one, and the oldest of these. */
const first = (pods: readonly PodFacts[]): PodFacts | undefined =>
  pods.toSorted((a, b) => Number(a.terminating) - Number(b.terminating) || a.createdAt - b.createdAt)[0];

/**
 * `changesAt`: when time alone changes it, epoch ms; Infinity for never. `readySinceOf` tells a pod by its UID, by our own
 * clock: the pod's own time is another machine's.
 */
export const countNode = (
  view: AdvancedView,
  node: NodeInfo | undefined,
  pods: readonly PodFacts[],
  hash: string | undefined,
  readySinceOf: (uid: string) => number | undefined,
  now: number,
): { share: NodeCounts; changesAt: number } => {
  if (!node) return { share: none, changesAt: Number.POSITIVE_INFINITY };
  const desired = isEligible(view.needs, node);
  const pod = first(pods);
  const live = pods.filter(({ terminating }) => !terminating);
  const isReady = desired && pod?.ready === true && !pod.terminating;
  const availableAt = isReady
    ? (readySinceOf(pod.uid) ?? now) + view.policy.policy.minReadyMs
    : Number.POSITIVE_INFINITY;
  const share: NodeCounts = {
    desired: Number(desired),
    current: Number(desired && pods.length > 0),
    misscheduled: Number(!desired && pods.length > 0),
    ready: Number(isReady),
    available: Number(availableAt <= now),
    updated: Number(desired && hash !== undefined && pod?.revision === hash),
    leaving: !desired && node.ready ? pods.length - live.length : 0,
    carrying: Number(hash !== undefined && live.some(({ revision }) => revision === hash)),
  };
  return { share, changesAt: availableAt > now ? availableAt : Number.POSITIVE_INFINITY };
};

/** Sums that are kept up one node at a time. */
export const createStatusCounts = () => {
  const byNode = new Map<string, NodeCounts>();
  const sums: TotalCounts = { ...none };
  return {
    sums: sums as Readonly<TotalCounts>,
    set(node: string, share: NodeCounts | undefined): void {
      const before = byNode.get(node) ?? none;
      for (const key of keys) sums[key] += (share ?? none)[key] - before[key];
      if (share) byNode.set(node, share);
      else byNode.delete(node);
    },
    of: (node: string): Readonly<NodeCounts> => byNode.get(node) ?? none,
  };
};
export type StatusCounts = ReturnType<typeof createStatusCounts>;
