import type { Commit, ObjectStore } from './store.ts';

/** Dispatches each commit to the watches of its collection. */
export interface WatchBroadcaster {
  add(collection: string, watcher: Watcher): () => void;
  /** Ends the watches of a resource that is no longer served. */
  endAll(collection: string): void;
}

interface Watcher {
  commit(commit: Commit): void;
  end(): void;
}

export const createWatchBroadcaster = (store: ObjectStore): WatchBroadcaster => {
  const watchers = new Map<string, Set<Watcher>>();
  store.onCommit((commit) => {
    for (const watcher of watchers.get(commit.collection) ?? []) watcher.commit(commit);
  });
  return {
    add(collection, watcher) {
      const set = watchers.get(collection) ?? new Set();
      watchers.set(collection, set.add(watcher));
      return () => {
        set.delete(watcher);
        if (set.size === 0 && watchers.get(collection) === set) watchers.delete(collection);
      };
    },
    endAll(collection) {
      for (const watcher of watchers.get(collection) ?? []) watcher.end();
    },
  };
};
