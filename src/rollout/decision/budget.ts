import { daemonRolloutLimits } from '../api/types.ts';
import type { Tally } from '../ledger/tally.ts';
import { scaledValue } from '../policy/int-or-percent.ts';
import { type Policy, surges } from '../policy/policy.ts';

/** Every update in flight is a reservation in the DaemonRollout, whose size is limited however large the fleet is. */
const MOST_IN_FLIGHT = daemonRolloutLimits.reservations;

/** How many nodes may be down, or surge, at once: a percentage is rounded up, and at least 1 unless the value is zero. */
export const budgetOf = (policy: Policy, tally: Readonly<Tally>): number => {
  const { maxUnavailable, maxSurge, percentOf } = policy;
  const share = surges(policy) ? maxSurge : maxUnavailable;
  if (share.value === 0) return 0;
  const total = percentOf === 'desired' ? tally.eligible : tally.settled;
  return Math.min(MOST_IN_FLIGHT, Math.max(1, scaledValue(share, total, 'up')));
};

/** How much of the budget is in use. A decision adds to it while it reserves slots. */
export interface Usage {
  /** Online nodes with an update of ours that has not completed. */
  inFlight: number;
  /** In flight, without nodes whose old broken pod waits for its repair. */
  trying: number;
  /** Online nodes that are down or in flight, each counted once. */
  occupied: number;
}

/**
 * May an update start on a node whose pod is down already? A node that an older update broke is in flight anyway and uses
 * its own slot, unless its pod is ready and thus about to be available, if it is not already. It competes only with updates
 * that are under way, not with other nodes that wait for the same repair. If it competed with everything in flight, a fixed
 * template could repair nothing once more nodes are broken than the budget allows (because it was lowered, is a percentage
 * of fewer nodes, or is exceeded by suspects that returned broken).
 */
export const roomForBroken = (budget: number, usage: Usage, ownSlot: boolean): boolean =>
  (ownSlot ? usage.trying : usage.inFlight) < budget;

/** May a healthy pod be taken down, or get a new one beside it? */
export const roomForHealthy = (budget: number, usage: Usage, surging = false): boolean =>
  usage.inFlight < budget && (surging || usage.occupied < budget);
