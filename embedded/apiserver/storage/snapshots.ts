import type { ObjectStore, Snapshot } from './store.ts';

/** Snapshots for paginated lists; the oldest are evicted first. */
export interface SnapshotCache {
  take(collection: string): Snapshot;
  find(collection: string, version: number): Snapshot | undefined;
}

const MOST_SNAPSHOTS = 32;

export const createSnapshotCache = (store: ObjectStore): SnapshotCache => {
  const kept = new Map<string, Snapshot>();
  return {
    take(collection) {
      const snapshot = store.snapshot(collection);
      const key = `${collection} ${snapshot.version}`;
      kept.delete(key);
      kept.set(key, snapshot);
      const [oldest] = kept.keys();
      if (kept.size > MOST_SNAPSHOTS && oldest !== undefined) kept.delete(oldest);
      return snapshot;
    },
    find: (collection, version) => (version < store.compacted ? undefined : kept.get(`${collection} ${version}`)),
  };
};
