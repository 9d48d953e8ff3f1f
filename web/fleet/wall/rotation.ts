import type { RolloutRef } from '../api.ts';
import type { RolloutRow } from '../types.ts';
import { orders } from '../view/overview.ts';

/** The rollout that a wall shows next: of those that are not complete, the one after the one it shows; undefined for none. */
export const nextOnWall = (rows: Iterable<RolloutRow>, shown: RolloutRef | undefined): RolloutRow | undefined => {
  const open = [...rows].filter(({ state }) => state !== 'complete').toSorted(orders.state);
  const at = open.findIndex(
    ({ namespace, kind, name }) => namespace === shown?.namespace && kind === shown.kind && name === shown.name,
  );
  return open[(at + 1) % open.length];
};
