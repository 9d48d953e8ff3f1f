import { type DaemonRolloutStatus, daemonRolloutLimits } from '../../words/index.ts';
import type { Tally } from '../fleet/tally.ts';
import { type Scope, type Scopes, scopeLimit } from '../plan/scopes.ts';
import { budgetShare } from '../policy/int-or-percent.ts';
import { type Policy, surges } from '../policy/policy.ts';
import type { FirstWave } from './first-wave.ts';

/** Every update in flight is a reservation in the DaemonRollout, whose size is limited however large the fleet is. */
const MOST_IN_FLIGHT = daemonRolloutLimits.reservations;

/** How many nodes may be down, or surge, at once: a percentage is rounded up, and at least 1 unless the value is zero. */
export const budgetOf = (policy: Policy, tally: Readonly<Tally>): number => {
  const { maxUnavailable, maxSurge, percentOf } = policy;
  const share = surges(policy) ? maxSurge : maxUnavailable;
  const total = percentOf === 'desired' ? tally.eligible : tally.settled;
  return Math.min(MOST_IN_FLIGHT, budgetShare(share, total));
};

/** How much of the budget is in use. A decision adds to it while it reserves slots. */
export interface Usage {
  /** Online nodes with an update of ours that has not completed. */
  inFlight: number;
  /** In flight, without nodes whose old broken pod waits for its repair. */
  active: number;
  /** Online nodes that are down or in flight, each counted once. */
  occupied: number;
}

/** What people are told of the budget. */
export interface Slots {
  /** Never more than `limit`. */
  inUse: number;
  limit: number;
  /**
   * Why more nodes are down or being updated than there are slots: a clause; empty if that is not so. Nodes lose their pods
   * by themselves, or wait for their first one; a budget is lowered, and nodes with an update under way return.
   */
  beyond: string;
}

/** Which slots of the budget are in use. Where new pods are created beside old ones, only updates use them. */
export const slotsOf = (
  limit: number,
  { occupied, inFlight }: Pick<Usage, 'occupied' | 'inFlight'>,
  surging: boolean,
): Slots => {
  const used = surging ? inFlight : occupied;
  const updates = inFlight === 0 ? 'none of them by an update' : `${inFlight} of them by updates`;
  const beyond =
    inFlight < used
      ? `${used} online nodes are down, ${updates}`
      : `${used} nodes are being updated, since before the budget had its size or they were back online`;
  return { inUse: Math.min(limit, used), limit, beyond: used > limit ? beyond : '' };
};

export const slotsOfStatus = ({ budget }: Pick<DaemonRolloutStatus, 'budget'>): Slots => {
  const { nodes = 0, inUse = 0, inFlight = 0, maxSurge } = budget ?? {};
  return slotsOf(nodes, { occupied: inUse, inFlight }, maxSurge !== undefined);
};

/**
 * May an update start on a node whose pod is down already? A node that an older update broke is in flight anyway and uses
 * its own slot, unless its pod is ready and thus about to be available, if it is not already. It competes only with updates
 * that are under way, not with other nodes that wait for the same repair. If it competed with everything in flight, a fixed
 * template could repair nothing once more nodes are broken than the budget allows (because it was lowered, is a percentage
 * of fewer nodes, or is exceeded by suspects that returned broken).
 */
const roomForBroken = (limit: number, usage: Usage, ownSlot: boolean): boolean =>
  (ownSlot ? usage.active : usage.inFlight) < limit;

/** May a healthy pod be taken down, or get a new one beside it? */
const roomForHealthy = (limit: number, usage: Usage, surging: boolean): boolean =>
  usage.inFlight < limit && (surging || usage.occupied < limit);

const nothing: Usage = { inFlight: 0, active: 0, occupied: 0 };

const without = (usage: Usage, own: Usage): Usage => ({
  inFlight: usage.inFlight - own.inFlight,
  active: usage.active - own.active,
  occupied: usage.occupied - own.occupied,
});

const add = (usage: Usage, more: Usage): void => {
  usage.inFlight += more.inFlight;
  usage.active += more.active;
  usage.occupied += more.occupied;
};

const usageIn = ({ inFlight, active, occupied }: Readonly<Usage>): Usage => ({ inFlight, active, occupied });

/** What is left of the budget while one decision uses it. `own`: what the node itself uses already. */
export interface Room {
  /** Of the whole DaemonSet. */
  readonly usage: Readonly<Usage>;
  /** May an update start on a node of these scopes whose pod is down? `ownSlot`: an older update's, which it holds. */
  forBroken: (scopes: Scopes, ownSlot: boolean, own?: Usage) => boolean;
  /** May a healthy pod of these scopes be taken down, or get a new one beside it? */
  forHealthy: (scopes: Scopes, own?: Usage) => boolean;
  /** May another node whose pod is ready try the revision? */
  inFirstWave: (own?: Usage) => boolean;
  /** Uses more, or with negative numbers less. */
  take: (scopes: Scopes, more: Usage) => void;
}

/**
 * What is left of the budget while one decision uses it: of the DaemonSet's own, and of those of the stages and groups that
 * a node is in. `own`: what the node itself uses already. `wave`: where the revision has yet to prove itself.
 */
export const createRoom = (budget: number, tally: Readonly<Usage>, surging: boolean, wave?: FirstWave): Room => {
  const usage = usageIn(tally);
  /** Of the scopes in which this decision has changed something. */
  const changed = new Map<Scope, Usage>();
  const inFirstWave = (own = nothing): boolean =>
    wave === undefined || wave.onTrial + usage.active - tally.active - own.active < wave.limit;
  const fits = ({ all }: Scopes, own: Usage, isRoom: (limit: number, usage: Usage) => boolean): boolean =>
    isRoom(budget, without(usage, own)) &&
    all.every((scope) => isRoom(scopeLimit(scope), without(changed.get(scope) ?? scope, own)));
  return {
    usage,
    forBroken: (scopes: Scopes, ownSlot: boolean, own = nothing): boolean =>
      fits(scopes, own, (limit, used) => roomForBroken(limit, used, ownSlot)),
    forHealthy: (scopes: Scopes, own = nothing): boolean =>
      inFirstWave(own) && fits(scopes, own, (limit, used) => roomForHealthy(limit, used, surging)),
    inFirstWave,
    take({ all }: Scopes, more: Usage): void {
      add(usage, more);
      for (const scope of all) {
        const used = changed.get(scope) ?? usageIn(scope);
        add(used, more);
        changed.set(scope, used);
      }
    },
  };
};
