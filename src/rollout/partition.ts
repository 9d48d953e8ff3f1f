import { resolve } from './int-or-percent.ts';
import type { Policy } from './policy.ts';
import type { NodeRecord } from './record.ts';

const waits = (record: NodeRecord): boolean =>
  record.view.phase !== undefined && !record.view.taken && (record.node?.selected ?? false);

/**
 * Who may be updated under a partition: nodes that are at the target or under way count first, then the others by name
 * from the end of the alphabet, offline ones too. The members among the waiting nodes are those whose name is not below
 * a boundary. It moves only when the sums no longer fit, so that an ordinary event costs O(1).
 */
export const createMembership = (records: ReadonlyMap<string, NodeRecord>) => {
  /** Undefined: no partition is in force and every node is a member. */
  let boundary: string | undefined;
  let waiting = 0;
  let waitingMembers = 0;
  let misfiled = false;

  const isMember = (name: string): boolean => boundary === undefined || name >= boundary;

  const add = (record: NodeRecord, by: 1 | -1): void => {
    if (!waits(record)) return;
    waiting += by;
    if (record.member) waitingMembers += by;
    if (by === 1 && record.member !== isMember(record.name)) misfiled = true;
  };

  return {
    enter: (record: NodeRecord): void => add(record, 1),
    leave: (record: NodeRecord): void => add(record, -1),
    isMember,
    /** The records whose membership changes, with what it becomes. Empty when everything fits. */
    redraw(policy: Policy, sums: { eligible: number; taken: number }): [NodeRecord, boolean][] {
      const keep = resolve(policy.partition, sums.eligible, 'down');
      const places = Math.min(waiting, Math.max(0, sums.eligible - keep - sums.taken));
      const drawn = boundary !== undefined;
      if (!misfiled && waitingMembers === places && drawn === keep > 0) return [];
      misfiled = false;
      boundary = undefined;
      if (keep > 0) {
        const names = [...records.values()].filter(waits).map((record) => record.name);
        names.sort();
        // Above every name there is (names end in letters or digits) when nobody has a place.
        boundary = places === 0 ? '~' : names[names.length - places];
      }
      return [...records.values()]
        .map((record): [NodeRecord, boolean] => [record, isMember(record.name)])
        .filter(([record, member]) => record.member !== member);
    },
  };
};
