import { contactOf, isSuspiciouslySoon, type Terms } from '../rollout/index.ts';

/** The values of the label `edgeset.io/reach` of a cluster. */
export const reaches = ['online', 'settling', 'away', 'suspect'] as const;
export type Reach = (typeof reaches)[number];

/** Defaults: 10 s, as for nodes, and 15 min. */
export type ReachTerms = Pick<Terms, 'settleMs' | 'suspectWindowMs'>;

/** Went away at some time from its last contact to the time by which the next one was due. */
export interface GoneContact {
  state: 'gone';
  lastContact: number;
  dueBy: number;
}

/** All times are epoch ms by the hub's clock, as far as the hub tells them. */
export type ClusterContact =
  /** Available since then. */
  | { state: 'available'; since: number }
  | GoneContact
  /** Says nothing of its availability. */
  | { state: 'never' };

/** The latest thing that the hub asked of a cluster in one object, such as a ManifestWork. */
export interface ClusterUpdate {
  /** The object's name. */
  name: string;
  /** When it was last changed. Undefined: cannot be read. */
  at: number | undefined;
  /** The cluster reported that it has carried out this very change. */
  finished: boolean;
  /** The cluster reported that this very change failed there. */
  failed: boolean;
}

export interface ClusterFacts {
  contact: ClusterContact;
  updates: readonly ClusterUpdate[];
  /** The present label, and when we wrote it if that can be read. Undefined: none, or no value of ours. */
  label: { reach: Reach; at: number | undefined } | undefined;
  /** When it was last back, if that was seen: a label that stayed `online` does not tell. */
  backAt?: number | undefined;
}

/** Why a cluster has its reach. */
export type ReachCause =
  | 'available'
  | 'returned'
  | 'went-away'
  | 'never-seen'
  /** It went away soon after an update. */
  | 'soon-after-update'
  /** It went away after an update had failed there: its failure must go on to count. */
  | 'failed-update'
  /** It was a suspect before we restarted, and its update is still unfinished. */
  | 'still-suspect'
  /** It went away with an unfinished update, and nobody can tell when that was given. */
  | 'unknown-update-time';

export interface ReachDecision {
  reach: Reach;
  cause: ReachCause;
  /** Of a suspect: the update that may have cut its link. */
  update?: ClusterUpdate;
  /** When time alone changes the reach, epoch ms. */
  changesAt?: number;
}

/**
 * How long after `update` the cluster went away, counted from its last contact: too short rather than too long. Undefined if the
 * update cannot have reached it. An unfinished update may have waited until the cluster was last back.
 */
const goneAfterMs = (
  { at = Number.NaN, finished }: ClusterUpdate,
  { lastContact, dueBy }: GoneContact,
  backAt: number,
): number | undefined => {
  if (!(at <= dueBy)) return undefined;
  const reachedAt = finished ? at : Math.max(at, backAt);
  return Math.max(0, lastContact - reachedAt);
};

/** When a cluster that is gone was last back. While it was in contact, its label was written after that. */
const lastBack = ({ label, backAt }: ClusterFacts): number => {
  if (label?.reach !== 'online' && label?.reach !== 'settling') return Number.NEGATIVE_INFINITY;
  const known = [label.at, backAt].filter((time) => time !== undefined);
  // If nobody can tell, it may have been just before it went.
  return known.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...known);
};

const suspicionOf = (
  facts: ClusterFacts,
  gone: GoneContact,
  terms: ReachTerms,
): Pick<ReachDecision, 'cause' | 'update'> | undefined => {
  const { updates, label } = facts;
  const backAt = lastBack(facts);
  for (const update of updates) {
    const offlineAfterMs = goneAfterMs(update, gone, backAt);
    if (offlineAfterMs !== undefined && isSuspiciouslySoon(offlineAfterMs, terms))
      return { cause: 'soon-after-update', update };
  }
  const failed = updates.find(({ at = Number.NaN, failed: hasFailed }) => hasFailed && at <= gone.dueBy);
  if (failed) return { cause: 'failed-update', update: failed };
  const unfinished = updates.filter(({ finished }) => !finished);
  const timeless = unfinished.find(({ at = Number.NaN }) => Number.isNaN(at));
  if (timeless) return { cause: 'unknown-update-time', update: timeless };
  const before = unfinished.find(({ at = Number.NaN }) => at <= gone.dueBy);
  return label?.reach === 'suspect' && before ? { cause: 'still-suspect', update: before } : undefined;
};

/**
 * The reach of a cluster, by the settle and suspect rules of nodes. It depends on the given objects alone, so that every process
 * finds the same after a restart.
 *
 * Unlike a node, a suspect is not lost once its suspect window has ended: nothing on the hub counts failures, so it stays a suspect,
 * and holds its ring, until it is back or the hub gives it another version. Whoever has a place in a ring does not lose it by being back:
 * a ring that is empty for a moment lets the version pass.
 */
export const reachOf = (facts: ClusterFacts, terms: ReachTerms, now: number): ReachDecision => {
  const { contact, label } = facts;
  // One with a place in a ring has reported: its hub may have lost that. It must not lose the place for it.
  if (contact.state === 'never')
    return {
      reach: label?.reach === 'online' || label?.reach === 'suspect' ? label.reach : 'away',
      cause: 'never-seen',
    };
  if (contact.state === 'gone') {
    const suspicion = suspicionOf(facts, contact, terms);
    return suspicion ? { reach: 'suspect', ...suspicion } : { reach: 'away', cause: 'went-away' };
  }
  const since = Math.min(contact.since, now);
  const { settledAt } = contactOf({ online: true, since, offlineAfterMs: undefined, countsFrom: since }, terms);
  if (now >= settledAt || !label || label.reach === 'online') return { reach: 'online', cause: 'available' };
  // Out of its ring, a suspect would no longer hold it.
  const reach = label.reach === 'suspect' ? 'suspect' : 'settling';
  return { reach, cause: 'returned', changesAt: settledAt };
};
