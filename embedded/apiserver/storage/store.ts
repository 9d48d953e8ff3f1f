import sorted from 'sorted-btree';
import type { StoredObject } from '../../types.ts';
import { type Json, recordOf } from '../json.ts';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One commit to a collection. For deletions, `object` is the last state with the deletion's resourceVersion. */
export interface Commit {
  readonly version: number;
  readonly type: ChangeType;
  readonly collection: string;
  readonly key: string;
  readonly object: StoredObject;
  readonly previous?: StoredObject;
}

/** An immutable view of a collection. */
export interface Snapshot {
  readonly version: number;
  /** Objects with the prefix, in key order, after the key `after`. */
  scan(prefix: string, after?: string): IterableIterator<[string, StoredObject]>;
}

export interface ObjectStore {
  readonly version: number;
  /** Changes up to this version are compacted. */
  readonly compacted: number;
  get(collection: string, key: string): StoredObject | undefined;
  size(collection: string): number;
  /** The current objects whose keys have the prefix, in key order. */
  list(collection: string, prefix: string): StoredObject[];
  put(collection: string, key: string, make: (version: string) => StoredObject): StoredObject;
  remove(collection: string, key: string, make: (version: string) => StoredObject): StoredObject;
  snapshot(collection: string): Snapshot;
  /** The changes of a collection after `version`, oldest first; undefined if they are compacted. */
  since(collection: string, version: number): readonly Commit[] | undefined;
  /**
   * Called for each commit, in order, before `put` or `remove` returns; writes by handlers are delivered afterwards.
   */
  onCommit(handler: (commit: Commit) => void): () => void;
  /** Compacts all changes: older watches and continue tokens get 410. */
  compact(): void;
}

export const keyOf = (namespace: string | undefined, name: string): string =>
  namespace ? `${namespace}/${name}` : name;

/** Makes copies of an object with other resourceVersions. */
export const withVersion =
  (object: Json) =>
  (resourceVersion: string): StoredObject =>
    ({ ...object, metadata: { ...recordOf(object.metadata), resourceVersion } }) as StoredObject;

/** An in-memory etcd: numbers commits, keeps objects in key order and the last `history` changes of each collection. */
export const createStore = (history: number): ObjectStore => {
  interface Collection {
    tree: sorted.default<string, StoredObject>;
    log: Commit[];
    /** The version of the newest compacted change. */
    forgotten: number;
  }
  const collections = new Map<string, Collection>();
  const handlers = new Set<(commit: Commit) => void>();
  const undelivered: Commit[] = [];
  let delivering = false;
  let version = 0;
  let compacted = 0;

  const collectionOf = (name: string): Collection => {
    let collection = collections.get(name);
    if (!collection) {
      collection = {
        tree: new sorted.default<string, StoredObject>(undefined, (a: string, b: string) =>
          a < b ? -1 : a > b ? 1 : 0,
        ),
        log: [],
        forgotten: compacted,
      };
      collections.set(name, collection);
    }
    return collection;
  };

  const deliver = (commit: Commit): void => {
    undelivered.push(commit);
    if (delivering) return;
    delivering = true;
    try {
      for (let next = undelivered.shift(); next; next = undelivered.shift())
        for (const handler of handlers) handler(next);
    } finally {
      delivering = false;
    }
  };

  const record = (collection: Collection, commit: Commit): void => {
    collection.log.push(commit);
    // Trimmed by half, so that a commit costs O(1) amortized.
    if (collection.log.length > 2 * history) {
      const dropped = collection.log.splice(0, collection.log.length - history);
      collection.forgotten = dropped.at(-1)?.version ?? collection.forgotten;
    }
    deliver(commit);
  };

  const commit = (name: string, key: string, make: (version: string) => StoredObject, removes: boolean) => {
    const collection = collectionOf(name);
    const previous = collection.tree.get(key);
    const object = make(String(version + 1));
    version += 1;
    if (removes) collection.tree.delete(key);
    else collection.tree.set(key, object);
    const type = removes ? 'DELETED' : previous ? 'MODIFIED' : 'ADDED';
    record(collection, { version, type, collection: name, key, object, ...(previous && { previous }) });
    return object;
  };

  return {
    get version() {
      return version;
    },
    get compacted() {
      return compacted;
    },
    get: (collection, key) => collections.get(collection)?.tree.get(key),
    list(collection, prefix) {
      const tree = collections.get(collection)?.tree;
      if (!tree) return [];
      if (prefix === '') return tree.valuesArray();
      const found: StoredObject[] = [];
      // '0' is the character after '/', which ends every prefix.
      tree.forRange(prefix, `${prefix.slice(0, -1)}0`, false, (_, object) => void found.push(object));
      return found;
    },
    size: (collection) => collections.get(collection)?.tree.size ?? 0,
    put: (name, key, make) => commit(name, key, make, false),
    remove: (name, key, make) => commit(name, key, make, true),
    snapshot(name) {
      // A clone shares the tree's nodes copy-on-write.
      const tree = collectionOf(name).tree.clone();
      const taken = version;
      return {
        version: taken,
        *scan(prefix, after) {
          const from = after !== undefined && after > prefix ? after : prefix;
          for (const [key, object] of tree.entries(from)) {
            if (!key.startsWith(prefix)) return;
            if (key !== after) yield [key, object];
          }
        },
      };
    },
    since(name, from) {
      const collection = collectionOf(name);
      if (from < collection.forgotten) return undefined;
      let low = 0;
      let high = collection.log.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((collection.log[middle]?.version ?? 0) <= from) low = middle + 1;
        else high = middle;
      }
      return collection.log.slice(low);
    },
    onCommit(handler) {
      handlers.add(handler);
      return () => void handlers.delete(handler);
    },
    compact() {
      compacted = version;
      for (const collection of collections.values()) {
        collection.log = [];
        collection.forgotten = version;
      }
    },
  };
};
