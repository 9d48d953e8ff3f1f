import { backoffMs, type Env, linkedController, sleep } from '../../runtime/index.ts';
import { isKubeError, type KubeErrorCode } from '../client/errors.ts';
import { compareVersions, isOlder, isOlderOrSame } from '../client/formats.ts';
import type { CacheFailure, KubeObject, ReflectorHandler, Store, WatchEvent } from '../client/types.ts';
import { TURN_MS } from '../turn.ts';
import { createReflectorCache } from './reflector-cache.ts';
import { listPages, NotStreamedError, readInitialEvents, type Selection, selectors } from './snapshot.ts';
import type { Indexers } from './store.ts';

export interface ReflectorOptions<T extends KubeObject, P> extends Selection<T> {
  env: Env;
  /**
   * What the cache keeps of an object; the object itself is dropped. Undefined: the object is not cached, and removed if
   * it was. Must not change the object. When it throws, the cache keeps what it has of the object, which is among the
   * `failures` until a later try succeeds. `known`: what it keeps of an earlier version, with the same UID.
   */
  project: (object: T, known?: P) => P | undefined;
  indexes?: Indexers<P>;
  handlers?: readonly ReflectorHandler<P>[];
  /** Page size where the server does not stream lists. Default 500. */
  pageSize?: number;
  /** Try streamed lists (WatchList) first. Default true. */
  watchList?: boolean;
}

export interface Reflector<P, T extends KubeObject = KubeObject> {
  /** Stays readable, with its last state, while the watch is down. */
  readonly store: Store<P>;
  /** Lists, watches and recovers until `signal` aborts; then resolves. Can be called once. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves after the first snapshot has been applied and delivered; rejects with the signal's reason. */
  whenSynced(signal?: AbortSignal): Promise<void>;
  readonly synced: boolean;
  /** The version that the store has reached; undefined before the first snapshot. */
  readonly resourceVersion: string | undefined;
  /**
   * Decisions may rely on the store: the watch is open, or has been down for a moment only, and the API server has said
   * something lately. A watch that is behind cannot be told from one on which nothing happens.
   */
  isCurrent(): boolean;
  /** Objects that could not be taken in: nothing may be decided that depends on them. Each is tried again now and then. */
  readonly failures: readonly CacheFailure[];
  /** Delivers the current state to `handler`, if there is one, and every change from then on. Returns its removal. */
  addHandler(handler: ReflectorHandler<P>): () => void;
  /**
   * Takes in an object that is selected here, from the response to a write or a read of it alone, as if the watch had
   * delivered it: what is older than the state here is ignored, and older events and lists do not bring back what was
   * before. A response without which the watch shows that it has lost an event makes it list again.
   */
  accept(object: T): void;
  /** The API server no longer has the object: it is removed as if the watch had said so, and no older event or list brings it back. */
  acceptDeletion(key: string, uid: string): void;
  /** The watch has delivered everything up to this version: after a write without a response, its effect if it had one. */
  reached(version: string): boolean;
}

/** Of a watch that the API server refuses or ends. */
const BACKOFF = { baseMs: 500, maxMs: 30_000 };
/** Of one whose connection fails: that costs the API server nothing, and nothing is updated until it is back. */
const RECONNECT_BACKOFF = { baseMs: 500, maxMs: 5_000 };
/** Errors that are not about the connection: after a few in a row, assume that the server cannot resume from here. */
const REFUSALS: ReadonlySet<KubeErrorCode> = new Set([
  'BadRequest',
  'NotFound',
  'Invalid',
  'ServerTimeout',
  'InternalError',
  'Unknown',
  'Malformed',
]);
const REFUSALS_TO_RELIST = 3;
const MAX_STREAM_FAILURES = 3;
/** A server must not be able to delay the watch by a day. */
const LONGEST_RETRY_AFTER_MS = 60_000;
/** A state older than ours comes from a lagging server or, when it repeats this often, from a restored backup. */
const MAX_ROLLBACKS = 3;

/** A watch that is down for longer misses changes on which decisions depend, such as a node that goes offline. */
const RECONNECT_MS = 5_000;
const CATCH_UP_MS = 1_000;
/** The API server sends a bookmark per minute on every watch: at this age, the second one is missing. */
const SILENCE_MS = 120_000;
/** A clock that is being adjusted may step back a little. */
const CLOCK_SLACK_MS = 1_000;

/** A stream that lasts this long resets the backoff. */
const HEALTHY_MS = 10_000;
/** A streamed list without any event for this long counts as unsupported. */
const INITIAL_SILENCE_MS = 30_000;
/** A stream that ends this long after the last list is followed by a relist: events may have been dropped on the way. */
const RELIST_MS = 30 * 60_000;

class RollbackError extends Error {
  override readonly name = 'RollbackError';
}

export const createReflector = <T extends KubeObject, P>(options: ReflectorOptions<T, P>): Reflector<P, T> => {
  const { client, resource, env, project, pageSize = 500 } = options;
  const log = env.log.with({ resource: resource.plural });
  const cache = createReflectorCache({
    env: { ...env, log },
    project,
    indexes: options.indexes ?? {},
    handlers: options.handlers ?? [],
  });
  let watchList = options.watchList ?? true;
  let streamFailures = 0;
  let rollbacks = 0;
  let refusals = 0;
  let failures = 0;
  /** In a row. */
  let connectionFailures = 0;
  /** The current stream has delivered a change. */
  let delivered = false;
  let gone = 0;
  /** Where to resume; undefined: list first. */
  let version: string | undefined;
  /** The newest version ever applied: an older snapshot is a rollback. */
  let newest: string | undefined;
  /** When the API server last said something on the watch, epoch ms. */
  let lastActivityAt = 0;
  /** From when on the store may lack changes, epoch ms: the watch ended, and none that works has followed. */
  let downSince: number | undefined;
  /** When the API server accepted the present watch, epoch ms. */
  let openedAt: number | undefined;
  let snapshotAt = 0;
  let synced = false;
  let running = false;
  /** Ends the stream that changes are read from. */
  let endStream: ((reason: Error) => void) | undefined;
  /** The stream has lost an event. */
  let lossy = false;
  /** The version of the last snapshot. */
  let listed = '';
  const waiting = new Set<() => void>();

  const touch = (): void => {
    lastActivityAt = env.clock.now();
  };

  const isWithin = (since: number, ms: number): boolean => {
    const age = env.clock.now() - since;
    return age <= ms && age >= -CLOCK_SLACK_MS;
  };

  /** What happened while no watch was open arrives at once. */
  const hasCaughtUp = (): boolean => openedAt !== undefined && env.clock.now() - openedAt >= CATCH_UP_MS;

  const reach = (reached: string): void => {
    if (version === undefined || (compareVersions(reached, version) ?? 1) > 0) version = reached;
    newest = version;
  };

  const commit = async (
    staged: ReturnType<typeof cache.stage>,
    reached: string,
    signal: AbortSignal,
  ): Promise<void> => {
    const older = newest !== undefined && isOlder(reached, newest);
    if (older) {
      rollbacks += 1;
      if (rollbacks < MAX_ROLLBACKS) throw new RollbackError(`the server returned version ${reached} after ${newest}`);
      log.warn('the server went back in time; accepting its state', { from: newest, to: reached });
    }
    rollbacks = 0;
    version = reached;
    newest = reached;
    listed = reached;
    snapshotAt = env.clock.now();
    await staged.commit(reached, older, signal);
    downSince = undefined;
    log.debug('synced', { objects: cache.store.size, resourceVersion: reached });
    synced = true;
    for (const resolve of waiting) resolve();
    waiting.clear();
  };

  const consume = async (stream: AsyncIterator<WatchEvent<T>>): Promise<void> => {
    for (;;) {
      const next = await stream.next();
      if (next.done) return;
      const event = next.value;
      touch();
      refusals = 0;
      gone = 0;
      downSince = undefined;
      if (event.type === 'BOOKMARK') {
        if (version !== undefined && isOlder(event.resourceVersion, version))
          throw new RollbackError(`a bookmark at ${event.resourceVersion} is older than ${version}`);
        reach(event.resourceVersion);
      } else {
        delivered = true;
        const began = env.clock.now();
        cache.apply(event.type, event.object, version ?? '');
        reach(event.object.metadata?.resourceVersion ?? '');
        // Events that have arrived already follow without a turn for anything else.
        if (env.clock.now() - began > TURN_MS) await sleep(env.clock, 0);
      }
    }
  };

  /** Lists where needed, then watches. Returns when the server ends the stream. */
  const listAndWatch = async (signal: AbortSignal): Promise<void> => {
    const { controller: own, unlink } = linkedController(signal);
    const streamed = version === undefined && watchList && streamFailures < MAX_STREAM_FAILURES;
    let iterator: AsyncIterator<WatchEvent<T>> | undefined;
    try {
      if (version === undefined && !streamed) {
        const staged = cache.stage();
        await commit(staged, await listPages(options, pageSize, staged, signal, touch), signal);
        streamFailures = 0;
      }
      const start = streamed ? { sendInitialEvents: true } : { resourceVersion: version ?? '' };
      const onOpen = (): void => {
        // A list that is streamed says by itself when it is complete.
        if (!streamed) openedAt = env.clock.now();
      };
      const stream = client.watch(resource, { ...selectors(options), ...start, onOpen, signal: own.signal });
      iterator = stream[Symbol.asyncIterator]();
      if (streamed) {
        const staged = cache.stage();
        const reached = await readInitialEvents(env, iterator, staged, {
          silenceMs: INITIAL_SILENCE_MS,
          onSilence: (reason) => own.abort(reason),
          onActivity: touch,
        });
        await commit(staged, reached, signal);
        streamFailures = 0;
      }
      endStream = (reason) => own.abort(reason);
      await consume(iterator);
    } catch (error) {
      throw streamed && version === undefined && !signal.aborted ? afterStreamFailure(error) : error;
    } finally {
      endStream = undefined;
      unlink();
      own.abort(new Error('the stream has ended'));
      await iterator?.return?.().catch(() => undefined);
    }
  };

  const afterStreamFailure = (error: unknown): unknown => {
    // Kubernetes 1.33 refuses by default.
    if (isKubeError(error, 'BadRequest', 'Invalid')) {
      watchList = false;
      return new NotStreamedError('the server does not stream lists', { cause: error });
    }
    if (error instanceof NotStreamedError) streamFailures = MAX_STREAM_FAILURES;
    else if (!isKubeError(error, 'Unauthorized', 'Forbidden', 'Transport')) streamFailures += 1;
    return error;
  };

  /** Decides where the next attempt resumes, and returns how long to wait before it. */
  const afterFailure = (error: unknown): number => {
    if (isKubeError(error, 'Transport')) {
      connectionFailures += 1;
      return backoffMs(connectionFailures, RECONNECT_BACKOFF, env.random);
    }
    connectionFailures = 0;
    failures += 1;
    const delay = backoffMs(failures, BACKOFF, env.random);
    if (error instanceof RollbackError) {
      version = undefined;
      return delay;
    }
    if (!isKubeError(error)) return delay;
    if (error.code === 'Gone') {
      version = undefined;
      gone += 1;
      return gone === 1 ? 0 : delay;
    }
    if (REFUSALS.has(error.code)) {
      refusals += 1;
      if (refusals >= REFUSALS_TO_RELIST) {
        refusals = 0;
        version = undefined;
      }
    }
    return Math.max(delay, Math.min(LONGEST_RETRY_AFTER_MS, (error.retryAfterSeconds ?? 0) * 1000));
  };

  /** The watch is past this version of an object without having delivered it: whatever else it has lost, a list shows. */
  const relistAfter = (missed: string): void => {
    if (!endStream || isOlderOrSame(missed, listed)) return;
    lossy = true;
    endStream(new Error(`the watch is at ${version} and has not delivered ${missed}`));
    endStream = undefined;
  };

  return {
    store: cache.store,
    get synced() {
      return synced;
    },
    get resourceVersion() {
      return version ?? newest;
    },
    isCurrent: () =>
      isWithin(lastActivityAt, SILENCE_MS) &&
      (downSince === undefined || isWithin(downSince, RECONNECT_MS) || hasCaughtUp()),
    get failures() {
      return cache.failures;
    },
    addHandler: (handler) => cache.addHandler(handler),
    accept(object) {
      if (newest === undefined || cache.accept(object, version ?? newest)) return;
      relistAfter(object.metadata?.resourceVersion ?? '');
    },
    acceptDeletion: (key, uid) => cache.acceptDeletion(key, uid),
    reached: (wanted) => version !== undefined && (compareVersions(version, wanted) ?? 0) >= 0,
    whenSynced(signal) {
      if (synced) return Promise.resolve();
      return new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason);
          return;
        }
        const done = (): void => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        };
        const onAbort = (): void => {
          waiting.delete(done);
          reject(signal?.reason);
        };
        waiting.add(done);
        signal?.addEventListener('abort', onAbort, { once: true });
      });
    },
    async run(signal) {
      if (running) throw new Error('this reflector is already running');
      running = true;
      signal.addEventListener('abort', cache.stop, { once: true });
      while (!signal.aborted) {
        const startedAt = env.clock.now();
        let delay: number;
        delivered = false;
        const lasted = (): boolean => env.clock.now() - startedAt >= HEALTHY_MS;
        try {
          await listAndWatch(signal);
          // A stream that delivered changes worked, however short it was: busy API servers end the streams of clients that they
          // take for slow, and waiting longer each time would leave these further behind.
          connectionFailures = 0;
          failures = lasted() || delivered ? 0 : failures + 1;
          delay = lasted() ? 0 : backoffMs(Math.max(1, failures), BACKOFF, env.random);
          if (env.clock.now() - snapshotAt >= RELIST_MS) version = undefined;
        } catch (error) {
          if (signal.aborted) return;
          if (error instanceof NotStreamedError) {
            log.debug('reading the list page by page', { error });
            continue;
          }
          if (lasted() || delivered) {
            failures = 0;
            connectionFailures = 0;
          }
          delay = afterFailure(error);
          // A stream that fell silent has missed minutes. Replayed one by one, they would show as present what is long past.
          if (lasted() && isKubeError(error, 'Timeout')) version = undefined;
          log.warn('watch failed', { error, retryMs: Math.round(delay) });
        }
        if (hasCaughtUp()) downSince = undefined;
        downSince ??= env.clock.now();
        openedAt = undefined;
        // Events that were still read from the stream have moved it.
        if (lossy) version = undefined;
        lossy = false;
        if (delay > 0) await sleep(env.clock, delay, signal).catch(() => undefined);
      }
    },
  };
};
