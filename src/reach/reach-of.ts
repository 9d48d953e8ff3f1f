import { contactOf, isSuspiciouslySoon, type Terms } from '../rollout/index.ts';

/** The values of the label `edgeset.io/reach` of a cluster. */
export const reaches = ['online', 'settling', 'away', 'suspect'] as const;
export type Reach = (typeof reaches)[number];

/** Defaults: 10 s, as for nodes, and 15 min. */
export type ReachTerms = Pick<Terms, 'settleMs' | 'suspectWindowMs'>;

/** All times are epoch ms by the hub's clock, as far as the hub tells them. */
export type ClusterContact =
  /** Available since then. */
  | { state: 'available'; since: number }
  /** Went away at some time from its last contact to the time by which the next one was due. */
  | { state: 'gone'; lastContact: number; dueBy: number }
  /** Never reported. */
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
  { lastContact, dueBy }: Extract<ClusterContact, { state: 'gone' }>,
  backAt: number,
): number | undefined => {
  if (!(at <= dueBy)) return undefined;
  const reachedAt = finished ? at : Math.max(at, backAt);
  return Math.max(0, lastContact - reachedAt);
};

const suspicionOf = (
  { updates, label }: ClusterFacts,
  gone: Extract<ClusterContact, { state: 'gone' }>,
  terms: ReachTerms,
): Pick<ReachDecision, 'cause' | 'update'> | undefined => {
  // While it was in contact, the label was written when it had come back.
  const wasBack = label?.reach === 'online' || label?.reach === 'settling';
  const backAt = (wasBack ? label.at : undefined) ?? Number.NEGATIVE_INFINITY;
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
 * and holds its ring, until it is back or the hub gives it another version.
 */
export const reachOf = (facts: ClusterFacts, terms: ReachTerms, now: number): ReachDecision => {
  const { contact } = facts;
  if (contact.state === 'never') return { reach: 'away', cause: 'never-seen' };
  if (contact.state === 'gone') {
    const suspicion = suspicionOf(facts, contact, terms);
    return suspicion ? { reach: 'suspect', ...suspicion } : { reach: 'away', cause: 'went-away' };
  }
  const since = Math.min(contact.since, now);
  const { settledAt } = contactOf({ online: true, since, offlineAfterMs: undefined, countsFrom: since }, terms);
  return now < settledAt
    ? { reach: 'settling', cause: 'returned', changesAt: settledAt }
    : { reach: 'online', cause: 'available' };
};
