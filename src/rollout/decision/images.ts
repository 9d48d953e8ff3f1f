import type { Ledger } from '../fleet/ledger-types.ts';
import { type RequestPriority, requestPriorities } from '../node/record.ts';
import { scaledValue } from '../policy/int-or-percent.ts';
import type { Action } from './action.ts';
import type { Hold } from './hold.ts';

/** One decision makes at most this many requests. The next decision follows as soon as they are written. */
const MAX_REQUESTS = 100;

/** Images are also pulled ahead while a person holds the update back: the update then takes only seconds. */
const mayPull = (hold: Hold | undefined): boolean =>
  hold === undefined || hold.kind === 'paused' || hold.kind === 'manual';

/** On which nodes to request the images of the target, or withdraw a request. `reserved`: nodes that are updated now. */
export const requestImages = (
  ledger: Ledger,
  hold: Hold | undefined,
  budget: number,
  reserved: ReadonlySet<string>,
): Action[] => {
  const { policy, tally } = ledger;
  const actions: Action[] = [...ledger.images.stale()]
    .map(({ name }) => ({ type: 'cancel-images' as const, node: name, because: 'images-unwanted' as const }))
    .toSorted((a, b) => (a.node < b.node ? -1 : 1));
  const { wanted, requested, present } = tally.images;
  if (wanted === 0 || !mayPull(hold)) return actions;
  const least = policy.predownloadMinUpdated ? scaledValue(policy.predownloadMinUpdated, tally.eligible, 'up') : 0;
  const missing = least - tally.phases.updated;
  const keep = scaledValue(policy.partition, tally.eligible, 'down');
  // All nodes are updated at once, so nothing could be pulled ahead.
  const allAtOnce = hold === undefined && keep === 0 && budget >= tally.online;
  // Nodes that wait for their images are requested regardless: otherwise none of them could be among the first.
  const priorities: readonly RequestPriority[] = missing > 0 || allAtOnce ? [0] : requestPriorities;
  const free = ledger.imageParallelism() - requested;
  let room = Math.min(MAX_REQUESTS, free, missing > 0 ? missing - requested - present : free);
  for (const priority of priorities)
    for (const { name } of ledger.images.toRequest(priority)) {
      if (room <= 0) return actions;
      if (reserved.has(name)) continue;
      actions.push({ type: 'request-images', node: name, because: 'images-wanted' });
      room -= 1;
    }
  return actions;
};
