import type { Ledger } from '../ledger/ledger.ts';
import { scaledValue } from '../policy/int-or-percent.ts';
import { type RequestPriority, requestPriorities } from '../record/images.ts';
import type { Action } from './decide.ts';
import type { Hold } from './hold.ts';

/** One decision asks on at most so many nodes: the next follows as soon as these are written. */
const LARGEST_WAVE = 100;

/** Images are pulled ahead also while a person holds the update back: then it takes but seconds afterwards. */
const mayPull = (hold: Hold | undefined): boolean =>
  hold === undefined || hold.kind === 'paused' || hold.kind === 'manual';

/** On which nodes the images of the target are asked for now, and on which no more; `taken`: those that are updated now. */
export const imageActions = (
  ledger: Ledger,
  hold: Hold | undefined,
  budget: number,
  taken: ReadonlySet<string>,
): Action[] => {
  const { policy, tally } = ledger;
  const actions: Action[] = [...ledger.images.misasking()]
    .map(({ name }) => ({ type: 'unask' as const, node: name }))
    .toSorted((a, b) => (a.node < b.node ? -1 : 1));
  const { wanted, asked, pulling, present } = tally.images;
  if (wanted === 0 || !mayPull(hold)) return actions;
  const least = policy.predownloadMinUpdated ? scaledValue(policy.predownloadMinUpdated, tally.eligible, 'up') : 0;
  const early = least - tally.phases.updated;
  const keep = scaledValue(policy.partition, tally.eligible, 'down');
  // All are updated at once, so that nothing could be ahead of it.
  const atOnce = hold === undefined && keep === 0 && budget >= tally.online;
  // Those that wait for their images are asked all the same: else none of them could be one of the first.
  const turns: readonly RequestPriority[] = early > 0 || atOnce ? [0] : requestPriorities;
  const free = ledger.imageParallelism() - asked - pulling;
  let room = Math.min(LARGEST_WAVE, free, early > 0 ? early - asked - pulling - present : free);
  for (const turn of turns)
    for (const { name } of ledger.images.toRequest(turn)) {
      if (room <= 0) return actions;
      // The update is there already.
      if (taken.has(name)) continue;
      actions.push({ type: 'ask', node: name });
      room -= 1;
    }
  return actions;
};
