import type { DaemonRolloutStatus } from '../words/index.ts';

/** Nodes a minute until the manager's estimate of the end; 0 if no update is left, undefined while nobody knows. */
export const rateOf = ({ nodes, estimatedFinishAt }: DaemonRolloutStatus, now: number): number | undefined => {
  const updates = (nodes?.outdated ?? 0) + (nodes?.broken ?? 0) + (nodes?.updating ?? 0);
  const minutes = (Date.parse(estimatedFinishAt ?? '') - now) / 60_000;
  if (updates === 0) return 0;
  // The estimate is rounded to 10 s: over less than twice that, a rate would say nothing.
  return minutes >= 1 / 3 ? updates / minutes : undefined;
};
