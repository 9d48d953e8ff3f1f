import sorted from 'sorted-btree';
import { scaledValue } from '../policy/int-or-percent.ts';
import type { Policy } from '../policy/policy.ts';
import type { NodeRecord } from '../record/record.ts';

// The package is CommonJS: its default export arrives one level down.
const SortedMap = sorted.default;
type SortedMap<K, V> = InstanceType<typeof SortedMap<K, V>>;

const waits = (record: NodeRecord): boolean =>
  record.status.phase !== undefined && !record.status.committed && (record.node?.selected ?? false);

/**
 * Who may be updated under a partition: nodes that are at the target or under way count first, then the others by name
 * from the end of the alphabet, offline ones too. The members among the waiting nodes are those whose name is not below
 * a boundary, which moves by one node at a time: a change costs O(log n) for each membership that it changes.
 */
export const createPartition = () => {
  const waiting: SortedMap<string, NodeRecord> = new SortedMap<string, NodeRecord>();
  /** Waiting nodes that were told something else while they did not wait. */
  const stale = new Set<NodeRecord>();
  let boundary = '';
  let members = 0;

  const allows = (name: string): boolean => name >= boundary;

  return {
    allows,
    enter(record: NodeRecord): void {
      if (!waits(record)) return;
      waiting.set(record.name, record);
      if (record.partitionAllows) members += 1;
      if (record.partitionAllows !== allows(record.name)) stale.add(record);
    },
    leave(record: NodeRecord): void {
      if (!waits(record)) return;
      waiting.delete(record.name);
      stale.delete(record);
      if (record.partitionAllows) members -= 1;
    },
    /** The next record whose membership has to change, with what it becomes; undefined when everything fits. */
    next(policy: Policy, sums: { eligible: number; committed: number }): [NodeRecord, boolean] | undefined {
      const [wrong] = stale;
      if (wrong) return [wrong, allows(wrong.name)];
      const keep = scaledValue(policy.partition, sums.eligible, 'down');
      const places = Math.min(waiting.size, Math.max(0, sums.eligible - keep - sums.committed));
      const moved =
        members < places
          ? waiting.nextLowerPair(boundary)
          : members > places
            ? waiting.getPairOrNextHigher(boundary)
            : undefined;
      if (!moved) return undefined;
      const [name, record] = moved;
      const joins = members < places;
      // No name lies between one and the same with a zero byte after it.
      boundary = joins ? name : `${name}\0`;
      return [record, joins];
    },
  };
};
