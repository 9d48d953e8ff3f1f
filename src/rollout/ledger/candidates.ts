import sorted from 'sorted-btree';
import type { NodeRecord } from '../record/record.ts';

// The package is CommonJS: its default export arrives one level down.
const SortedMap = sorted.default;
type SortedMap<K, V> = InstanceType<typeof SortedMap<K, V>>;

/** Sorts by time, and by node name at the same time. */
interface Entry {
  time: number;
  name: string;
}

const byTimeAndName = (a: Entry, b: Entry): number =>
  a.time - b.time || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** Records in order of time. Adding, removing and reading the first are O(log n); reading does not change the queue. */
export const createTimeQueue = () => {
  const tree: SortedMap<Entry, NodeRecord> = new SortedMap<Entry, NodeRecord>(undefined, byTimeAndName);
  const entries = new Map<string, Entry>();
  return {
    add(record: NodeRecord, time: number): void {
      const entry = { time, name: record.name };
      entries.set(record.name, entry);
      tree.set(entry, record);
    },
    remove(record: NodeRecord): void {
      const entry = entries.get(record.name);
      if (!entry) return;
      entries.delete(record.name);
      tree.delete(entry);
    },
    /** The earliest time; Infinity when empty. */
    firstTime: (): number => tree.minKey()?.time ?? Number.POSITIVE_INFINITY,
    inOrder: (): IterableIterator<NodeRecord> => tree.values(),
    get size(): number {
      return tree.size;
    },
  };
};
type TimeQueue = ReturnType<typeof createTimeQueue>;

const entryOf = ({ node, name }: NodeRecord): Entry => ({ time: node?.readyChangedAt ?? 0, name });

/**
 * Nodes that wait for an update, the longest Ready node first. With zones, the zone with the fewest nodes in flight goes
 * first; without, all nodes are in zone ''.
 */
export const createCandidates = () => {
  const zones = new Map<string, TimeQueue>();
  return {
    add(record: NodeRecord): void {
      const { zone } = record.status;
      let queue = zones.get(zone);
      if (!queue) {
        queue = createTimeQueue();
        zones.set(zone, queue);
      }
      queue.add(record, entryOf(record).time);
    },
    remove(record: NodeRecord, zone: string): void {
      const queue = zones.get(zone);
      if (!queue) return;
      queue.remove(record);
      if (queue.size === 0) zones.delete(zone);
    },
    /** Yields every candidate once in order; `inFlight` tells how busy a zone is at the start. */
    *inOrder(inFlight: (zone: string) => number): Generator<NodeRecord> {
      const [only] = zones.values();
      if (zones.size === 1 && only) {
        yield* only.inOrder();
        return;
      }
      const queues = [...zones].map(([zone, queue]) => {
        const rest = queue.inOrder();
        return { busy: inFlight(zone), rest, head: rest.next().value as NodeRecord | undefined };
      });
      for (;;) {
        let best: (typeof queues)[number] | undefined;
        for (const queue of queues) {
          if (!queue.head) continue;
          if (!best?.head) best = queue;
          else if (queue.busy < best.busy) best = queue;
          else if (queue.busy === best.busy && byTimeAndName(entryOf(queue.head), entryOf(best.head)) < 0) best = queue;
        }
        if (!best?.head) return;
        const chosen = best.head;
        best.busy += 1;
        best.head = best.rest.next().value as NodeRecord | undefined;
        yield chosen;
      }
    },
  };
};
