import type { StoredObject } from '../../types.ts';
import { badListOptions, expired, type StatusError } from '../errors.ts';
import type { Json } from '../json.ts';
import type { Kind } from '../registry/kind.ts';
import type { Commit } from '../storage/store.ts';
import { listObjects, parseResourceVersion, parseSelection, type Selection } from './list.ts';
import { fromStorageVersion, type ServerState } from './state.ts';

export type WatchMessage =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: StoredObject }
  | { readonly type: 'BOOKMARK'; readonly version: number; readonly initialEventsEnd: boolean }
  | { readonly type: 'ERROR'; readonly error: StatusError };

export interface WatchRequest extends Selection {
  resourceVersion?: string | undefined;
  resourceVersionMatch?: string | undefined;
  sendInitialEvents?: boolean | undefined;
  bookmarks?: boolean | undefined;
}

export interface WatchSink {
  message(message: WatchMessage): void;
  /** The server has no more to say: the resource is gone, or the watch began with an error. */
  end(): void;
}

export interface OpenWatch {
  /** Tells how far the watch has come, as the server does from time to time. */
  bookmark(): void;
  close(): void;
}

/** Hands each commit to the watches of its table. */
export interface WatchBroadcaster {
  add(table: string, watcher: Watcher): () => void;
  /** Ends the watches of a resource that is no longer served. */
  endAll(table: string): void;
}

interface Watcher {
  commit(commit: Commit): void;
  end(): void;
}

export const createWatchBroadcaster = (store: ServerState['store']): WatchBroadcaster => {
  const watchers = new Map<string, Set<Watcher>>();
  store.onCommit((commit) => {
    for (const watcher of watchers.get(commit.collection) ?? []) watcher.commit(commit);
  });
  return {
    add(table, watcher) {
      const set = watchers.get(table) ?? new Set();
      watchers.set(table, set.add(watcher));
      return () => {
        set.delete(watcher);
        if (set.size === 0 && watchers.get(table) === set) watchers.delete(table);
      };
    },
    endAll(table) {
      for (const watcher of watchers.get(table) ?? []) watcher.end();
    },
  };
};

const checkRequest = ({ sendInitialEvents, resourceVersionMatch }: WatchRequest): void => {
  if (sendInitialEvents === undefined) {
    if (resourceVersionMatch)
      throw badListOptions(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      );
    return;
  }
  if (resourceVersionMatch !== 'NotOlderThan')
    throw badListOptions(
      'resourceVersionMatch',
      'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    );
};

const inNamespace = (object: StoredObject, namespace: string | undefined): boolean =>
  !namespace || object.metadata.namespace === namespace;

/** What a watch with a filter is told of a commit; undefined when it does not concern it. */
const messageOf = (
  kind: Kind,
  { type, object, previous }: Commit,
  matches: ((object: Json) => boolean) | undefined,
): WatchMessage | undefined => {
  const now = fromStorageVersion(kind, object);
  if (!matches) return { type, object: now };
  const before = previous === undefined ? undefined : fromStorageVersion(kind, previous);
  const is = type !== 'DELETED' && matches(now);
  const was = before !== undefined && matches(before);
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', object: now };
  if (!was || before === undefined) return undefined;
  // Whoever selects sees the object as it was when it last matched, at the version of the change.
  const { resourceVersion } = now.metadata;
  return { type: 'DELETED', object: { ...before, metadata: { ...before.metadata, resourceVersion } } };
};

/**
 * Opens a watch. Present and past events reach the sink before this returns. Refuses what a real server refuses with a
 * status; a version that is too old is told within the stream, as there.
 */
export const openWatch = (state: ServerState, kind: Kind, request: WatchRequest, sink: WatchSink): OpenWatch => {
  checkRequest(request);
  const from = parseResourceVersion(request.resourceVersion);
  const { matches } = parseSelection(kind, request);
  const { store } = state;
  let told = store.version;
  let closed = false;

  const tell = (commit: Commit): void => {
    if (!inNamespace(commit.object, request.namespace)) return;
    const message = messageOf(kind, commit, matches);
    if (message) sink.message(message);
  };

  const initial = request.sendInitialEvents ?? (from === undefined || from === 0);
  if (initial) {
    for (const object of listObjects(state, kind, request)) sink.message({ type: 'ADDED', object });
    if (request.sendInitialEvents && request.bookmarks)
      sink.message({ type: 'BOOKMARK', version: store.version, initialEventsEnd: true });
  } else if (from !== undefined && from > 0) {
    const missed = store.since(kind.collection, from);
    if (!missed) {
      sink.message({ type: 'ERROR', error: expired(`too old resource version: ${from} (${store.version})`) });
      sink.end();
      return { bookmark: () => undefined, close: () => undefined };
    }
    for (const commit of missed) tell(commit);
    told = Math.max(from, store.version);
  }
  const remove = state.watches.add(kind.collection, {
    commit(commit) {
      if (commit.version <= told) return;
      told = commit.version;
      tell(commit);
    },
    end() {
      close();
      sink.end();
    },
  });
  const close = (): void => {
    closed = true;
    remove();
  };
  return {
    bookmark() {
      if (!closed && request.bookmarks)
        sink.message({ type: 'BOOKMARK', version: store.version, initialEventsEnd: false });
    },
    close,
  };
};
