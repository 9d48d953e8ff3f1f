import sorted from 'sorted-btree';
import type { NodeRecord } from '../node/record.ts';
import { scaledValue } from '../policy/int-or-percent.ts';
import type { Policy } from '../policy/policy.ts';

// The package is CommonJS: its default export arrives one level down.
const SortedMap = sorted.default;
type SortedMap<K, V> = InstanceType<typeof SortedMap<K, V>>;

const waits = ({ status, node }: NodeRecord): boolean =>
  status.phase !== undefined && !status.committed && (node?.selected ?? false);

/**
 * Decides which nodes a partition allows to update. Nodes that are at the target or committed to it count first, then the
 * waiting nodes in descending order of their names, including offline ones. It allows the waiting nodes whose names are not
 * below a boundary. The boundary moves by one node at a time, so each node that changes sides costs O(log n).
 */
export const createPartition = () => {
  const waiting: SortedMap<string, NodeRecord> = new SortedMap<string, NodeRecord>();
  /** Waiting nodes whose side changed while they did not wait. */
  const stale = new Set<NodeRecord>();
  let boundary = '';
  let allowed = 0;

  const allows = (name: string): boolean => name >= boundary;

  return {
    allows,
    add(record: NodeRecord): void {
      if (!waits(record)) return;
      waiting.set(record.name, record);
      if (record.partitionAllows) allowed += 1;
      if (record.partitionAllows !== allows(record.name)) stale.add(record);
    },
    remove(record: NodeRecord): void {
      if (!waits(record)) return;
      waiting.delete(record.name);
      stale.delete(record);
      if (record.partitionAllows) allowed -= 1;
    },
    /** The next record to change sides, with its new side; undefined when all are correct. */
    next(policy: Policy, sums: { eligible: number; committed: number }): [NodeRecord, boolean] | undefined {
      const [wrong] = stale;
      if (wrong) return [wrong, allows(wrong.name)];
      const keep = scaledValue(policy.partition, sums.eligible, 'down');
      const places = Math.min(waiting.size, Math.max(0, sums.eligible - keep - sums.committed));
      if (allowed === places) return undefined;
      const joins = allowed < places;
      const moved = joins ? waiting.nextLowerPair(boundary) : waiting.getPairOrNextHigher(boundary);
      if (!moved) return undefined;
      const [name, record] = moved;
      // No name lies between a name and the same name followed by a zero byte.
      boundary = joins ? name : `${name}\0`;
      return [record, joins];
    },
  };
};
