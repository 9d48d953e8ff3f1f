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
  /** Called when the server ends the watch: the resource is no longer served, or the watch started with an error. */
  end(): void;
}

export interface OpenWatch {
  /** Sends a bookmark, as the server does from time to time. */
  bookmark(): void;
  close(): void;
}

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

/** The event that a watch sends for a commit; undefined when there is none. */
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
  // A filtered watch sends the last object that matched, with the resourceVersion of the change.
  const { resourceVersion } = now.metadata;
  return { type: 'DELETED', object: { ...before, metadata: { ...before.metadata, resourceVersion } } };
};

/**
 * Opens a watch. Initial and missed events reach the sink before this returns. Like the real server, rejects invalid
 * requests with a status, and reports a resourceVersion that is too old as an event.
 */
export const openWatch = (state: ServerState, kind: Kind, request: WatchRequest, sink: WatchSink): OpenWatch => {
  checkRequest(request);
  const from = parseResourceVersion(request.resourceVersion);
  const { matches } = parseSelection(kind, request);
  const { store } = state;
  const begun = store.version;
  let delivered = begun;
  let closed = false;

  const deliver = (commit: Commit): void => {
    if (!inNamespace(commit.object, request.namespace)) return;
    const message = messageOf(kind, commit, matches);
    if (message) sink.message(message);
  };

  const initial = request.sendInitialEvents ?? (from === undefined || from === 0);
  if (initial) {
    for (const object of listObjects(state, kind, request)) sink.message({ type: 'ADDED', object });
    // Also without sendInitialEvents: the server defaults it for a watch that starts with the current objects.
    if (request.bookmarks) sink.message({ type: 'BOOKMARK', version: store.version, initialEventsEnd: true });
  } else if (from !== undefined && from > 0) {
    const missed = store.since(kind.collection, from);
    if (!missed) {
      sink.message({ type: 'ERROR', error: expired(`too old resource version: ${from} (${store.version})`) });
      sink.end();
      return { bookmark: () => undefined, close: () => undefined };
    }
    for (const commit of missed) deliver(commit);
    delivered = Math.max(from, store.version);
  }
  const remove = state.watches.add(kind.collection, {
    commit(commit) {
      if (commit.version <= delivered) return;
      delivered = commit.version;
      deliver(commit);
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
    // Like the real server, only once it can resume from later than the beginning.
    bookmark() {
      if (!closed && request.bookmarks && store.version > begun)
        sink.message({ type: 'BOOKMARK', version: store.version, initialEventsEnd: false });
    },
    close,
  };
};
