import sorted from 'sorted-btree';
import type { NodeRecord } from '../node/record.ts';
import type { Scopes } from '../plan/scopes.ts';

// The package is CommonJS: its default export arrives one level down.
const SortedMap = sorted.default;
type SortedMap<K, V> = InstanceType<typeof SortedMap<K, V>>;

/** Sorts by number, such as a time, and by node name where that is the same. */
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

/** FNV-1a with the last steps of MurmurHash3, 32 bits: without them, names that differ in their last digits stay together. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/** Candidates of one zone and the same scopes. */
interface Lane {
  zone: string;
  scopes: Scopes;
  queue: TimeQueue;
}

const keyOf = ({ zone, scopes }: Pick<Lane, 'zone' | 'scopes'>): string =>
  scopes.key === '' ? zone : `${zone}\n${scopes.key}`;

/** A lane while candidates are chosen. */
interface Runner {
  lane: Lane;
  rest: Iterator<NodeRecord>;
  head: NodeRecord;
  turn: Entry;
  /** How busy its zone was when it took its place. */
  busy: number;
}

const byKey = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * The nodes of one queue (`CandidateQueue`), in the order in which they are updated: those in the zone with the fewest updates in flight
 * first, and among them by a hash of the target and the node's name. Nodes of one site have similar names, and became Ready at about
 * the same time: by those, a bad version would take one site after the other.
 */
export const createCandidates = () => {
  const lanes = new Map<string, Lane>();
  let target = '';
  const entryOf = ({ name }: NodeRecord): Entry => ({ time: hashOf(`${target}/${name}`), name });
  const byTurn = (a: Runner, b: Runner): number =>
    a.busy - b.busy || byTimeAndName(a.turn, b.turn) || byKey(keyOf(a.lane), keyOf(b.lane));
  return {
    /** Another target gives another order. */
    setTarget(hash: string): void {
      if (hash === target) return;
      target = hash;
      for (const lane of lanes.values()) {
        const records = [...lane.queue.inOrder()];
        lane.queue = createTimeQueue();
        for (const record of records) lane.queue.add(record, entryOf(record).time);
      }
    },
    add(record: NodeRecord): void {
      const { zone, scopes } = record.status;
      const key = keyOf(record.status);
      let lane = lanes.get(key);
      if (!lane) {
        lane = { zone, scopes, queue: createTimeQueue() };
        lanes.set(key, lane);
      }
      lane.queue.add(record, entryOf(record).time);
    },
    remove(record: NodeRecord): void {
      const key = keyOf(record.status);
      const lane = lanes.get(key);
      if (!lane) return;
      lane.queue.remove(record);
      if (lane.queue.size === 0) lanes.delete(key);
    },
    /** How many candidates are in scopes of which `is` says so. */
    countIn(is: (scopes: Scopes) => boolean): number {
      let count = 0;
      for (const { scopes, queue } of lanes.values()) if (scopes.all.length > 0 && is(scopes)) count += queue.size;
      return count;
    },
    /**
     * Yields every candidate once in order, but for those whose scopes have no room when their turn comes: room only shrinks
     * while slots are reserved. `inFlight` tells how busy a zone is at the start.
     */
    *inOrder(inFlight: (zone: string) => number, hasRoom: (scopes: Scopes) => boolean): Generator<NodeRecord> {
      const [only] = lanes.values();
      if (lanes.size === 1 && only) {
        for (const record of only.queue.inOrder()) {
          if (!hasRoom(only.scopes)) return;
          yield record;
        }
        return;
      }
      const busy = new Map<string, number>();
      const busyOf = (zone: string): number => busy.get(zone) ?? inFlight(zone);
      const turns = new SortedMap<Runner, true>(undefined, byTurn);
      for (const lane of lanes.values()) {
        const rest = lane.queue.inOrder();
        const head = rest.next().value as NodeRecord | undefined;
        if (head && hasRoom(lane.scopes))
          turns.set({ lane, rest, head, turn: entryOf(head), busy: busyOf(lane.zone) }, true);
      }
      for (let runner = turns.minKey(); runner; runner = turns.minKey()) {
        turns.delete(runner);
        const { lane, rest, head } = runner;
        const now = busyOf(lane.zone);
        if (!hasRoom(lane.scopes)) continue;
        if (runner.busy !== now) {
          // Another lane of its zone had a turn: it takes its place again.
          turns.set({ ...runner, busy: now }, true);
          continue;
        }
        busy.set(lane.zone, now + 1);
        const next = rest.next().value as NodeRecord | undefined;
        if (next) turns.set({ lane, rest, head: next, turn: entryOf(next), busy: now + 1 }, true);
        yield head;
      }
    },
  };
};
