import sorted from 'sorted-btree';
import type { NodeRecord } from '../record/record.ts';

// The package is CommonJS: its default export arrives one level down.
const SortedMap = sorted.default;
type SortedMap<K, V> = InstanceType<typeof SortedMap<K, V>>;

/** Sorts by a time, ties by node name: the order in which nodes take their turn. */
interface Entry {
  time: number;
  name: string;
}

const byTimeAndName = (a: Entry, b: Entry): number =>
  a.time - b.time || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** Records in order of a time; adding, removing and reading the first are O(log n), and reading changes nothing. */
export const createTimeQueue = () => {
  const tree: SortedMap<Entry, NodeRecord> = new SortedMap<Entry, NodeRecord>(undefined, byTimeAndName);
  const turns = new Map<string, Entry>();
  return {
    add(record: NodeRecord, time: number): void {
      const turn = { time, name: record.name };
      turns.set(record.name, turn);
      tree.set(turn, record);
    },
    remove(record: NodeRecord): void {
      const turn = turns.get(record.name);
      if (!turn) return;
      turns.delete(record.name);
      tree.delete(turn);
    },
    /** The earliest time; Infinity when empty. */
    firstTime: (): number => tree.minKey()?.time ?? Number.POSITIVE_INFINITY,
    inOrder: (): IterableIterator<NodeRecord> => tree.values(),
    get size(): number {
      return tree.size;
    },
  };
};
export type TimeQueue = ReturnType<typeof createTimeQueue>;

/**
 * Nodes that wait to be acted on, by the longest Ready node first. With zones, a wave goes to the zone with the fewest
 * nodes in flight first; without, all nodes are in the zone ''.
 */
export const createCandidates = () => {
  const zones = new Map<string, TimeQueue>();
  let size = 0;
  return {
    add(record: NodeRecord): void {
      const { zone } = record.status;
      let turns = zones.get(zone);
      if (!turns) {
        turns = createTimeQueue();
        zones.set(zone, turns);
      }
      turns.add(record, record.node?.readyChangedAt ?? 0);
      size += 1;
    },
    remove(record: NodeRecord, zone: string): void {
      const turns = zones.get(zone);
      if (!turns) return;
      turns.remove(record);
      size -= 1;
      if (turns.size === 0) zones.delete(zone);
    },
    get size(): number {
      return size;
    },
    /** Yields every candidate once in the order of their turns; `inFlight` tells how busy a zone is at the start. */
    *inOrder(inFlight: (zone: string) => number): Generator<NodeRecord> {
      const [only] = zones.values();
      if (zones.size === 1 && only) {
        yield* only.inOrder();
        return;
      }
      const queues = [...zones].map(([zone, turns]) => {
        const rest = turns.inOrder();
        return { busy: inFlight(zone), rest, head: rest.next().value as NodeRecord | undefined };
      });
      const turnOf = (record: NodeRecord): Entry => ({ time: record.node?.readyChangedAt ?? 0, name: record.name });
      for (;;) {
        let best: (typeof queues)[number] | undefined;
        for (const queue of queues) {
          if (!queue.head) continue;
          if (!best?.head) best = queue;
          else if (queue.busy < best.busy) best = queue;
          else if (queue.busy === best.busy && byTimeAndName(turnOf(queue.head), turnOf(best.head)) < 0) best = queue;
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
export type Candidates = ReturnType<typeof createCandidates>;
