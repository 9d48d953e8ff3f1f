import type { Terms } from '../policy/terms.ts';

/** What is known about the link to a node, or to a cluster. All times are epoch ms. */
export interface ContactFacts {
  online: boolean;
  /** When it went online or offline. */
  since: number;
  /** When it last went offline after an update that may be why, in ms after that update. Undefined: no such update. */
  offlineAfterMs: number | undefined;
  /** From when on the end of the suspect window can be told: `since`, or later where that comes from another clock. */
  countsFrom: number;
}

export interface Contact {
  /** From when on it counts as back. Infinity while it is offline. */
  settledAt: number;
  /** It is a suspect: the update may have cut its link. The end of its suspect window. Undefined: no suspect. */
  lostAt: number | undefined;
}

/** Whether an update may be why its node, or its cluster, went offline so long after it. */
export const isSuspiciouslySoon = (offlineAfterMs: number, { suspectWindowMs }: Pick<Terms, 'suspectWindowMs'>) =>
  offlineAfterMs <= suspectWindowMs;

/** The settle and suspect rules, the same for nodes and for clusters. */
export const contactOf = (
  { online, since, offlineAfterMs, countsFrom }: ContactFacts,
  terms: Pick<Terms, 'settleMs' | 'suspectWindowMs'>,
): Contact => ({
  settledAt: online ? since + terms.settleMs : Number.POSITIVE_INFINITY,
  lostAt:
    !online && offlineAfterMs !== undefined && isSuspiciouslySoon(offlineAfterMs, terms)
      ? countsFrom + terms.suspectWindowMs - offlineAfterMs
      : undefined,
});
