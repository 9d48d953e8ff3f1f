import { type RolloutRef, type RolloutRow, rolloutKey } from '../types.ts';
import { orders } from '../view/overview.ts';

/** The rollout that a wall shows next: of those that are not complete, the one after the one it shows; undefined for none. */
export const nextOnWall = (rows: Iterable<RolloutRow>, shown: RolloutRef | undefined): RolloutRow | undefined => {
  const open = [...rows].filter(({ state }) => state !== 'complete').toSorted(orders.state);
  const key = shown && rolloutKey(shown);
  const at = open.findIndex((row) => rolloutKey(row) === key);
  return open[(at + 1) % open.length];
};
