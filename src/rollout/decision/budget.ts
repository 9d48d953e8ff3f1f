import { daemonRolloutLimits } from '../api/types.ts';
import type { Tally } from '../ledger/tally.ts';
import { scaledValue } from '../policy/int-or-percent.ts';
import { type Policy, surges } from '../policy/policy.ts';

/** Every act in flight is a reservation in the DaemonRollout, whose size is bounded whatever the fleet's. */
const MOST_IN_FLIGHT = daemonRolloutLimits.reservations;

/** How many nodes may be down, or surge, at once: a percent is rounded up, and at least 1 unless the value is zero. */
export const budgetOf = (policy: Policy, tally: Readonly<Tally>): number => {
  const { maxUnavailable, maxSurge, percentOf } = policy;
  const share = surges(policy) ? maxSurge : maxUnavailable;
  if (share.value === 0) return 0;
  const total = percentOf === 'desired' ? tally.eligible : tally.settled;
  return Math.min(MOST_IN_FLIGHT, Math.max(1, scaledValue(share, total, 'up')));
};

/** What of the budget is in use, as a decision counts it on while it gives slots away. */
export interface Usage {
  /** Online nodes with an act of ours that has not healed. */
  inFlight: number;
  /** Those of them that are under way, or failed on it: not with an old broken pod that nobody tends yet. */
  trying: number;
  /** Online nodes that are down or in flight, each counted once. */
  occupied: number;
}

/**
 * May an act begin on a node whose pod is down already? One that an older act broke is in flight anyway and uses its own
 * slot, unless its pod is ready: that one is about to be available, or is so already by what has not been heard yet. It
 * competes with nodes that are under way only, and not with others that wait for the same repair. Were it to compete with
 * all that are in flight, a mended template could repair nothing once they are more than the budget (lowered, or a percent
 * of fewer nodes, or exceeded by suspects that returned broken).
 */
export const roomForBroken = (budget: number, usage: Usage, ownSlot: boolean): boolean =>
  (ownSlot ? usage.trying : usage.inFlight) < budget;

/** May a healthy pod be taken down, or get a new one beside it? */
export const roomForHealthy = (budget: number, usage: Usage, surging = false): boolean =>
  usage.inFlight < budget && (surging || usage.occupied < budget);
