import { byName } from '../../text/index.ts';
import { type DaemonRolloutStatus, daemonRolloutLimits as limits } from '../../words/index.ts';
import type { Summary } from '../decision/decide.ts';
import { toTimestamp } from '../facts/metadata.ts';
import type { Ledger } from '../fleet/ledger-types.ts';
import type { NodeRecord } from '../node/record.ts';

// Complete is about online nodes. A fleet has its version only when the last node that was away has it, too.

/** Nodes that have the target, offline ones included as far as the API server knows. */
const covered = ({ tally }: Ledger): number => tally.phases.updated + (tally.causes.get('offline-current') ?? 0);

/** Every eligible node has the target, offline ones included. */
export const isEverywhere = (ledger: Ledger, { complete }: Summary): boolean =>
  complete && covered(ledger) === ledger.tally.eligible;

/** `58 of 60 nodes have web-6d8c, offline nodes included.` */
export const coverageText = (ledger: Ledger): string =>
  `${covered(ledger)} of ${ledger.tally.eligible} nodes have ${ledger.state.target?.name ?? 'the target'}, offline nodes included.`;

const isStraggler = ({ status: { phase, cause } }: NodeRecord): boolean =>
  phase === 'offline' && cause !== 'offline-current';

/** A straggler's `lastSeen` that is no time: the node has never reported. */
export const isNeverSeen = (lastSeen: string): boolean => Date.parse(lastSeen) === 0;

const longestAwayFirst = (a: NodeRecord, b: NodeRecord): number => a.since - b.since || byName(a, b);

/** The offline nodes that still need the target, those that have been away for longest first. */
export const stragglersOf = (ledger: Ledger): Required<DaemonRolloutStatus>['stragglers'] => {
  if (ledger.tally.phases.offline === 0) return [];
  let first: NodeRecord[] = [];
  for (const record of ledger.records().filter(isStraggler)) {
    first.push(record);
    // Sorting now and then costs less than sorting a whole fleet once.
    if (first.length >= 100 * limits.stragglers) first = first.toSorted(longestAwayFirst).slice(0, limits.stragglers);
  }
  return first
    .toSorted(longestAwayFirst)
    .slice(0, limits.stragglers)
    .map(({ name, since }) => ({ node: name, lastSeen: toTimestamp(since) }));
};
