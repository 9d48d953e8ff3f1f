import { createReflector, createWorkQueue, type KubeClient, keyOf, pagesOf, pods } from '../kube/index.ts';
import {
  diskShortage,
  type ImageRequest,
  type ImageRequests,
  type NodeInfo,
  type RequestingDaemonSet,
} from '../rollout/index.ts';
import { backoffMs, type Env, sleep, untilAborted } from '../runtime/index.ts';
import { type Attempt, failed, notReported, postponed, reported, sent } from './attempt.ts';
import { type KnownPull, type PullAction, plan } from './plan.ts';
import { createPullControl } from './pull-control.ts';
import { PULL_LABEL } from './pull-pod.ts';
import { type PullView, toPullView } from './pull-status.ts';

export interface PrefetchOptions {
  client: KubeClient;
  env: Env;
  /** Undefined: all. */
  namespaces?: readonly string[] | undefined;
  /** What the controllers of the DaemonSets know. */
  cluster: {
    node(name: string): Pick<NodeInfo, 'ready' | 'conditions' | 'images'> | undefined;
    /** All managed DaemonSets are known. */
    complete(): boolean;
    /** The DaemonSet is managed: its requests will be reported. Pull pods of other DaemonSets are left over. */
    serves(daemonSetUid: string): boolean;
  };
}

/** DaemonSets reconciled at the same time, and those of one namespace. */
const CONCURRENCY = 8;
const PER_NAMESPACE = 4;
/** Writes of one DaemonSet at the same time: the next ones follow when these have ended. */
const MAX_ACTIONS = 50;
/** How often to check what no event reports. */
const RECHECK_MS = 1_000;
const LIST_BACKOFF = { baseMs: 1_000, maxMs: 30_000 };
const BY_DAEMON_SET = 'daemonSet';

export interface Prefetch {
  /** Receives the requests. */
  requests: ImageRequests;
  /** Keeps the cache of pull pods, once it is needed, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Pulls, reports and cleans up until the signal aborts; resolves once no write is in flight. */
  lead(signal: AbortSignal): Promise<void>;
}

/**
 * Pulls images on the nodes of pods that request them, with a short-lived pod on each node. It caches only its own pull
 * pods, and opens that watch only once there is a request, or an earlier manager has left a pull pod.
 */
export const createPrefetch = (options: PrefetchOptions): Prefetch => {
  const { client, cluster, namespaces } = options;
  const env: Env = { ...options.env, log: options.env.log.with({ part: 'prefetch' }) };
  const { clock, log } = env;
  const pullControl = createPullControl(
    client,
    env,
    {
      has: (pull) => reflectors.some(({ store }) => store.get(keyOf({ metadata: pull }))?.uid === pull.uid),
      acceptDeletion(pull) {
        for (const each of reflectors) each.acceptDeletion(keyOf({ metadata: pull }), pull.uid);
      },
    },
    (node, images) => diskShortage(cluster.node(node) ?? {}, images),
  );
  const daemonSets = new Map<string, { daemonSet: RequestingDaemonSet; requests: ReadonlyMap<string, ImageRequest> }>();
  const attempts = new Map<string, ReadonlyMap<string, Attempt>>();
  const needed = Promise.withResolvers<void>();
  /** UIDs of the pull pods that were there when this process began to lead; undefined until they are known. */
  let inherited: ReadonlySet<string> | undefined;
  let queue: { add(key: string): void } | undefined;

  const enqueue = (daemonSetUid: string): void => queue?.add(daemonSetUid);

  const reflectors = (namespaces ?? [undefined]).map((namespace) =>
    createReflector({
      client,
      env,
      resource: pods,
      labelSelector: PULL_LABEL,
      ...(namespace !== undefined && { namespace }),
      project: toPullView,
      indexes: { [BY_DAEMON_SET]: (pull: PullView) => [pull.daemonSetUid] },
      handlers: [
        {
          upsert(_key, pull) {
            pullControl.seen(pull);
            enqueue(pull.daemonSetUid);
          },
          remove(_key, pull) {
            pullControl.forgetPod(pull);
            enqueue(pull.daemonSetUid);
          },
        },
      ],
    }),
  );

  const enqueueAll = (): void => {
    for (const uid of daemonSets.keys()) enqueue(uid);
    for (const { store } of reflectors) for (const { daemonSetUid } of store.values()) enqueue(daemonSetUid);
  };

  const requests: ImageRequests = {
    update(daemonSet, now) {
      if (now) daemonSets.set(daemonSet.uid, { daemonSet, requests: now });
      else daemonSets.delete(daemonSet.uid);
      if (now && now.size > 0) needed.resolve();
      enqueue(daemonSet.uid);
    },
  };

  /** Executes one action; `update` records the outcome in the state of its request. */
  const execute = async (
    action: PullAction,
    daemonSet: RequestingDaemonSet | undefined,
    update: (change: (attempt: Attempt) => Attempt) => void,
    signal: AbortSignal,
  ): Promise<void> => {
    if (action.type === 'remove') {
      await pullControl.remove(action.pull, signal);
      return;
    }
    if (!daemonSet) return;
    const { request } = action;
    const { namespace, name } = daemonSet;
    const about = { namespace, daemonSet: name, node: request.node, revision: request.revision };
    if (action.type === 'pull') {
      const isInherited = (uid: string): boolean => inherited?.has(uid) === true;
      const outcome = await pullControl.create(daemonSet, request, isInherited, signal);
      if (outcome.kind === 'sent') {
        log.info('pulling images ahead', about);
        update((attempt) => sent(attempt, clock.now()));
      } else if (outcome.kind === 'later') update((attempt) => postponed(attempt, clock.now() + outcome.afterMs));
      else if (outcome.kind === 'refused') update((attempt) => failed(attempt, outcome.cause, clock.now()));
      if (outcome.kind !== 'needless') return;
    }
    const cause = action.type === 'report' ? action.cause : undefined;
    const done = await pullControl.report(namespace, request, cause, clock.now(), signal).catch((error: unknown) => {
      signal.throwIfAborted();
      log.info('failed to report the outcome of a pull; retrying', { ...about, error });
      return false;
    });
    if (!done) {
      update((attempt) => notReported(attempt, clock.now()));
      return;
    }
    log.info(cause === undefined ? 'images are present' : 'images cannot be pulled', {
      ...about,
      ...(cause && { cause }),
    });
    update((attempt) => reported(attempt, cause, clock.now()));
  };

  const reconcile = async (uid: string, signal: AbortSignal): Promise<{ requeueAt?: number }> => {
    signal.throwIfAborted();
    const before = inherited;
    // What these wait for enqueues it.
    if (!before || !reflectors.every(({ synced }) => synced)) return {};
    // A pull pod that cannot be read would be created again.
    const [unread] = reflectors.flatMap(({ failures }) => failures);
    if (unread) throw new Error(`the manager cannot process Pod ${unread.key}`, { cause: unread.error });
    const known = daemonSets.get(uid);
    const originOf = (pull: PullView): KnownPull['origin'] => {
      if (pullControl.isOwn(pull)) return 'own';
      return before.has(pull.uid) ? 'inherited' : 'foreign';
    };
    const now = clock.now();
    if (!known && (!cluster.complete() || cluster.serves(uid))) return { requeueAt: now + RECHECK_MS };
    const next = plan({
      requests: known?.requests ?? new Map(),
      pulls: reflectors
        .flatMap(({ store }) => store.byIndex(BY_DAEMON_SET, uid))
        // A pod elsewhere only claims to pull for this DaemonSet.
        .filter(({ namespace }) => known === undefined || namespace === known.daemonSet.namespace)
        .map((pull) => ({ ...pull, origin: originOf(pull) })),
      attempts: attempts.get(uid) ?? new Map(),
      nodeReady: (node) => cluster.node(node)?.ready ?? false,
      parallelism: known?.daemonSet.parallelism ?? 0,
      timeoutMs: known?.daemonSet.pullTimeoutMs ?? 0,
      now,
    });
    if (next.attempts.size > 0) attempts.set(uid, next.attempts);
    else {
      attempts.delete(uid);
      pullControl.forgetDaemonSet(uid);
    }
    let { wakeAt } = next;
    const dueActions = next.actions.filter((action) => {
      const dueAt = action.type === 'remove' ? pullControl.removableAt(action.pull.uid, now) : 0;
      if (dueAt > now) wakeAt = Math.min(wakeAt, dueAt);
      return dueAt <= now;
    });
    // What is left over is decided again: nothing of it is in the state of its request yet.
    const actions = dueActions.slice(0, MAX_ACTIONS);
    const outcomes = await Promise.allSettled(
      actions.map((action) => {
        const podUid = action.type === 'remove' ? undefined : action.request.podUid;
        const update = (change: (attempt: Attempt) => Attempt): void => {
          const attempt = podUid === undefined ? undefined : next.attempts.get(podUid);
          if (podUid !== undefined && attempt) next.attempts.set(podUid, change(attempt));
        };
        return execute(action, known?.daemonSet, update, signal);
      }),
    );
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    if (actions.length > 0) return { requeueAt: clock.now() };
    return wakeAt < Number.POSITIVE_INFINITY ? { requeueAt: wakeAt } : {};
  };

  /** Finds the pull pods that an earlier manager has left. Retries until the API server answers. */
  const findInherited = async (signal: AbortSignal): Promise<void> => {
    const found = new Set<string>();
    for (let failures = 0; ; failures += 1)
      try {
        for (const namespace of namespaces ?? [undefined]) {
          const one = { labelSelector: PULL_LABEL, signal, ...(namespace !== undefined && { namespace }) };
          for await (const { items } of pagesOf(client, pods, one))
            for (const { metadata } of items) found.add(metadata?.uid ?? '');
        }
        break;
      } catch (error) {
        signal.throwIfAborted();
        log.info('failed to list the pull pods of an earlier manager; retrying', { error });
        await sleep(clock, backoffMs(failures + 1, LIST_BACKOFF, env.random), signal);
      }
    if (found.size > 0) needed.resolve();
    inherited = found;
    enqueueAll();
  };

  return {
    requests,

    async run(signal) {
      await Promise.race([needed.promise, untilAborted(signal)]);
      for (const reflector of reflectors) reflector.whenSynced(signal).then(enqueueAll, () => undefined);
      await Promise.all(reflectors.map((reflector) => reflector.run(signal)));
    },

    async lead(signal) {
      const leading = createWorkQueue({
        env,
        concurrency: CONCURRENCY,
        perGroup: PER_NAMESPACE,
        groupOf: (uid) => daemonSets.get(uid)?.daemonSet.namespace ?? uid,
        process: reconcile,
      });
      queue = leading;
      // Only the cluster shows what another leader has done meanwhile.
      attempts.clear();
      inherited = undefined;
      findInherited(signal).catch((error: unknown) => {
        if (!signal.aborted) log.error('failed to look for pull pods of an earlier manager', { error });
      });
      try {
        await leading.run(signal);
      } finally {
        queue = undefined;
      }
    },
  };
};
