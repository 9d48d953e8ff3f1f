import { type BackoffOptions, backoffMs, type Env, sleep } from '../../runtime/index.ts';
import { isKubeError, type KubeErrorCode } from '../client/errors.ts';
import { compareVersions, isOlder } from '../client/formats.ts';
import type { KubeObject, ReflectorHandler, Store, WatchEvent } from '../client/types.ts';
import { createReflectorCache } from './reflector-cache.ts';
import { listPages, NotStreamed, readInitialEvents, type Scope, selection } from './snapshot.ts';
import type { Indexers } from './store.ts';

export interface ReflectorOptions<T extends KubeObject, P> extends Scope<T> {
  env: Env;
  /**
   * What is kept of an object; the object itself is dropped at once. Undefined: not cached (and removed, if it was). Must
   * not change the object. One that throws leaves the object out and is logged.
   */
  project: (object: T) => P | undefined;
  indexes?: Indexers<P>;
  handlers?: readonly ReflectorHandler<P>[];
  /** Objects a page, where the server does not stream lists. Default 500. */
  pageSize?: number;
  /** Default: 0.5 s doubling to 30 s. */
  backoff?: BackoffOptions;
  /** A stream that lived this long clears the backoff. Default 10,000. */
  healthyMs?: number;
  /** Ask for streamed lists first. Default true. */
  watchList?: boolean;
  /**
   * A stream that the server ends so long after the last snapshot is followed by another: what a server or a proxy on the
   * way has swallowed is not missed for ever. Default 1,800,000 (half an hour).
   */
  relistMs?: number;
  /** Silence that makes a streamed list be taken for ignored. Default 30,000. */
  initialSilenceMs?: number;
}

export interface Reflector<P> {
  /** Stays readable, with its last state, through every disturbance. */
  readonly store: Store<P>;
  /** Lists, watches and recovers until `signal` aborts; then resolves. To be called once. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves after the first snapshot was applied and delivered; rejects with the signal's reason. */
  whenSynced(signal?: AbortSignal): Promise<void>;
  readonly synced: boolean;
  /** How far the store is; undefined before the first snapshot. */
  readonly resourceVersion: string | undefined;
  /** When the server was last heard of (milliseconds since the epoch), bookmarks included; 0 before that. */
  readonly lastActivityAt: number;
  /**
   * Shows `handler` the present state at once, when there is one, and every change from then on. The result takes it
   * off.
   */
  addHandler(handler: ReflectorHandler<P>): () => void;
}

/** Answers that say nothing of the link: after a few in a row, the place to resume from is what the server chokes on. */
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
const STREAM_STRIKES = 3;
/** A server must not be able to silence us for a day. */
const LONGEST_RETRY_AFTER_MS = 60_000;
/** A state older than ours is first taken for a lagging server, and after this many times for a restored backup. */
const ROLLBACK_STRIKES = 3;

class Rollback extends Error {}

export const createReflector = <T extends KubeObject, P>(options: ReflectorOptions<T, P>): Reflector<P> => {
  const { client, resource, env, project, pageSize = 500, healthyMs = 10_000, initialSilenceMs = 30_000 } = options;
  const { relistMs = 1_800_000 } = options;
  const backoff = options.backoff ?? { baseMs: 500, maxMs: 30_000 };
  const log = env.log.with({ resource: resource.plural });
  const cache = createReflectorCache({
    env: { ...env, log },
    project,
    indexes: options.indexes ?? {},
    handlers: options.handlers ?? [],
  });
  let watchList = options.watchList ?? true;
  let streamStrikes = 0;
  let rollbackStrikes = 0;
  let refusals = 0;
  let failures = 0;
  let gone = 0;
  /** Where to resume; undefined: a snapshot is needed. */
  let version: string | undefined;
  /** The newest state ever applied: a snapshot below it is no progress. */
  let newest: string | undefined;
  let lastActivityAt = 0;
  let snapshotAt = 0;
  let synced = false;
  let running = false;
  const waiting = new Set<() => void>();

  const touch = (): void => {
    lastActivityAt = env.clock.now();
  };

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
      rollbackStrikes += 1;
      if (rollbackStrikes < ROLLBACK_STRIKES)
        throw new Rollback(`the server's state ${reached} is older than ${newest}, which it gave before`);
      log.warn('the server went back in time; its state is taken as it is', { from: newest, to: reached });
    }
    rollbackStrikes = 0;
    version = reached;
    newest = reached;
    snapshotAt = env.clock.now();
    await staged.commit(older, signal);
    log.debug('synced', { objects: cache.store.size, resourceVersion: reached });
    synced = true;
    for (const resolve of waiting) resolve();
    waiting.clear();
  };

  const follow = async (stream: AsyncIterator<WatchEvent<T>>): Promise<void> => {
    for (;;) {
      const next = await stream.next();
      if (next.done) return;
      const event = next.value;
      touch();
      refusals = 0;
      gone = 0;
      if (event.type === 'BOOKMARK') {
        if (version !== undefined && isOlder(event.resourceVersion, version))
          throw new Rollback(`a bookmark at ${event.resourceVersion} is older than ${version}`);
        reach(event.resourceVersion);
      } else {
        cache.apply(event.type, event.object, version ?? '');
        reach(event.object.metadata?.resourceVersion ?? '');
      }
    }
  };

  /** One stream, after a snapshot where one is needed. Returns when the server ends the stream. */
  const round = async (signal: AbortSignal): Promise<void> => {
    const own = new AbortController();
    const onAbort = (): void => own.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const streamed = version === undefined && watchList && streamStrikes < STREAM_STRIKES;
    let iterator: AsyncIterator<WatchEvent<T>> | undefined;
    try {
      if (version === undefined && !streamed) {
        const staged = cache.stage();
        await commit(staged, await listPages(options, pageSize, staged, signal, touch), signal);
        streamStrikes = 0;
      }
      const place = streamed ? { sendInitialEvents: true } : { resourceVersion: version ?? '' };
      const stream = client.watch(resource, { ...selection(options), ...place, signal: own.signal });
      iterator = stream[Symbol.asyncIterator]();
      if (streamed) {
        const staged = cache.stage();
        const reached = await readInitialEvents(env, iterator, staged, {
          silenceMs: initialSilenceMs,
          onSilence: (reason) => own.abort(reason),
          onActivity: touch,
        });
        await commit(staged, reached, signal);
        streamStrikes = 0;
      }
      await follow(iterator);
    } catch (error) {
      if (streamed && version === undefined && !signal.aborted) noteStreamFailure(error);
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
      own.abort(new Error('the stream is done with'));
      await iterator?.return?.().catch(() => undefined);
    }
  };

  const noteStreamFailure = (error: unknown): void => {
    if (isKubeError(error, 'BadRequest', 'Invalid')) {
      log.debug('the server does not stream lists: paging from here on', { error });
      watchList = false;
    } else if (error instanceof NotStreamed) streamStrikes = STREAM_STRIKES;
    else if (!isKubeError(error, 'Unauthorized', 'Forbidden', 'Transport')) streamStrikes += 1;
  };

  /** What a failure means for the next round, and how long to wait for it. */
  const afterFailure = (error: unknown): number => {
    failures += 1;
    const delay = backoffMs(failures, backoff, env.random);
    if (error instanceof NotStreamed) return 0;
    if (error instanceof Rollback) {
      version = undefined;
      return delay;
    }
    if (!isKubeError(error)) return delay;
    if (error.code === 'Gone') {
      version = undefined;
      gone += 1;
      return gone === 1 ? 0 : delay;
    }
    // The server has said that the streamed list is not for it: ask in the other way now.
    if (version === undefined && (error.code === 'BadRequest' || error.code === 'Invalid') && failures === 1) return 0;
    if (REFUSALS.has(error.code)) {
      refusals += 1;
      if (refusals >= REFUSALS_TO_RELIST) {
        refusals = 0;
        version = undefined;
      }
    }
    return Math.max(delay, Math.min(LONGEST_RETRY_AFTER_MS, (error.retryAfterSeconds ?? 0) * 1000));
  };

  return {
    store: cache.store,
    get synced() {
      return synced;
    },
    get resourceVersion() {
      return version ?? newest;
    },
    get lastActivityAt() {
      return lastActivityAt;
    },
    addHandler: (handler) => cache.addHandler(handler),
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
      while (!signal.aborted) {
        const startedAt = env.clock.now();
        let delay: number;
        try {
          await round(signal);
          const healthy = env.clock.now() - startedAt >= healthyMs;
          failures = healthy ? 0 : failures + 1;
          delay = healthy ? 0 : backoffMs(failures, backoff, env.random);
          if (env.clock.now() - snapshotAt >= relistMs) version = undefined;
        } catch (error) {
          if (signal.aborted) return;
          if (env.clock.now() - startedAt >= healthyMs) failures = 0;
          delay = afterFailure(error);
          log.warn('watch failed', { error, retryMs: Math.round(delay) });
        }
        if (delay > 0) await sleep(env.clock, delay, signal).catch(() => undefined);
      }
    },
  };
};
