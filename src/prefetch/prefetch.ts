import { createReflector, createWorkQueue, type KubeClient, pods } from '../kube/index.ts';
import type { ImageRequest, ImageRequests, RequestingDaemonSet } from '../rollout/index.ts';
import { type Env, untilAborted } from '../runtime/index.ts';
import { type Attempt, failed, notReported, postponed, reported, sent } from './attempt.ts';
import { type PullAction, plan } from './plan.ts';
import { createPullControl } from './pull-control.ts';
import { PULL_LABEL } from './pull-pod.ts';
import { type PullView, toPullView } from './pull-status.ts';
import { createRemovals } from './removals.ts';

export interface PrefetchOptions {
  client: KubeClient;
  env: Env;
  /** Undefined: all. */
  namespaces?: readonly string[] | undefined;
  /** What the controller of the DaemonSets knows. */
  cluster: {
    nodeReady(node: string): boolean;
    /** All DaemonSets that are served are known. */
    complete(): boolean;
    /** This one is: it will be told of. Pull pods of others belong to nobody. */
    serves(daemonSetUid: string): boolean;
  };
}

/** DaemonSets passed over at the same time. */
const CONCURRENCY = 4;
/** What is waited for without an event is looked at again after this. */
const LOOK_MS = 1_000;
const BY_DAEMON_SET = 'daemonSet';

/**
 * Makes images present on the nodes of pods that ask for them, by a short-lived pod on each. It keeps no cache of pods
 * but of its own pull pods, and opens that watch only once somebody asks, or an earlier manager left a pull pod behind.
 */
export const createPrefetch = (options: PrefetchOptions) => {
  const { client, cluster, namespaces } = options;
  const env: Env = { ...options.env, log: options.env.log.with({ part: 'prefetch' }) };
  const { clock, log } = env;
  const writes = createPullControl(client);
  const asked = new Map<string, { daemonSet: RequestingDaemonSet; requests: ReadonlyMap<string, ImageRequest> }>();
  const attempts = new Map<string, ReadonlyMap<string, Attempt>>();
  const removals = createRemovals(env, writes);
  const wanted = Promise.withResolvers<void>();
  let queue: { add(key: string): void } | undefined;

  const wake = (daemonSetUid: string): void => queue?.add(daemonSetUid);

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
          upsert: (_key, { daemonSetUid }) => wake(daemonSetUid),
          remove(_key, { daemonSetUid, uid }) {
            removals.forget(uid);
            wake(daemonSetUid);
          },
        },
      ],
    }),
  );

  const wakeAll = (): void => {
    for (const uid of asked.keys()) wake(uid);
    for (const { store } of reflectors) for (const { daemonSetUid } of store.values()) wake(daemonSetUid);
  };

  const requests: ImageRequests = {
    update(daemonSet, now) {
      if (now) asked.set(daemonSet.uid, { daemonSet, requests: now });
      else asked.delete(daemonSet.uid);
      if (now && now.size > 0) wanted.resolve();
      wake(daemonSet.uid);
    },
  };

  /** Carries out one action; what it means for the request is what `update` makes of its attempt. */
  const carryOut = async (
    action: PullAction,
    daemonSet: RequestingDaemonSet | undefined,
    update: (change: (attempt: Attempt) => Attempt) => void,
    signal: AbortSignal,
  ): Promise<void> => {
    if (action.type === 'remove') {
      await removals.remove(action.pull, signal);
      return;
    }
    if (!daemonSet) return;
    const { request } = action;
    const { namespace, name } = daemonSet;
    const about = { namespace, daemonSet: name, node: request.node, revision: request.revision };
    if (action.type === 'pull') {
      const outcome = await writes.create(daemonSet, request, signal);
      if (outcome.kind === 'sent') {
        log.info('pulling images ahead', about);
        update((attempt) => sent(attempt, clock.now()));
      } else if (outcome.kind === 'later') update((attempt) => postponed(attempt, clock.now() + outcome.afterMs));
      else if (outcome.kind === 'refused') update((attempt) => failed(attempt, outcome.cause, clock.now()));
      if (outcome.kind !== 'needless') return;
    }
    const cause = action.type === 'report' ? action.cause : undefined;
    const done = await writes.report(namespace, request, cause, clock.now(), signal).catch((error: unknown) => {
      signal.throwIfAborted();
      log.info('the outcome of a pull cannot be reported yet', { ...about, error });
      return false;
    });
    if (!done) {
      update((attempt) => notReported(attempt, clock.now()));
      return;
    }
    log.info(cause === undefined ? 'images are there' : 'images cannot be pulled', {
      ...about,
      ...(cause && { cause }),
    });
    update((attempt) => reported(attempt, cause, clock.now()));
  };

  const pass = async (uid: string, signal: AbortSignal): Promise<{ requeueAt?: number }> => {
    signal.throwIfAborted();
    // Its sync wakes us.
    if (!reflectors.every(({ synced }) => synced)) return {};
    const known = asked.get(uid);
    const now = clock.now();
    if (!known && (!cluster.complete() || cluster.serves(uid))) return { requeueAt: now + LOOK_MS };
    const next = plan({
      requests: known?.requests ?? new Map(),
      pulls: reflectors.flatMap(({ store }) =>
        store.byIndex(BY_DAEMON_SET, uid).filter((pull) => !removals.isGone(pull.uid)),
      ),
      attempts: attempts.get(uid) ?? new Map(),
      nodeReady: (node) => cluster.nodeReady(node),
      parallelism: known?.daemonSet.parallelism ?? 0,
      timeoutMs: known?.daemonSet.pullTimeoutMs ?? 0,
      now,
    });
    if (next.attempts.size > 0) attempts.set(uid, next.attempts);
    else {
      attempts.delete(uid);
      writes.forget(uid);
    }
    let { wakeAt } = next;
    const actions = next.actions.filter((action) => {
      const dueAt = action.type === 'remove' ? removals.dueAt(action.pull.uid, now) : 0;
      if (dueAt > now) wakeAt = Math.min(wakeAt, dueAt);
      return dueAt <= now;
    });
    const outcomes = await Promise.allSettled(
      actions.map((action) => {
        const podUid = action.type === 'remove' ? undefined : action.request.podUid;
        const update = (change: (attempt: Attempt) => Attempt): void => {
          const attempt = podUid === undefined ? undefined : next.attempts.get(podUid);
          if (podUid !== undefined && attempt) next.attempts.set(podUid, change(attempt));
        };
        return carryOut(action, known?.daemonSet, update, signal);
      }),
    );
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    if (actions.length > 0) return { requeueAt: clock.now() };
    return wakeAt < Number.POSITIVE_INFINITY ? { requeueAt: wakeAt } : {};
  };

  /** Pull pods of a manager that is no more, while nobody here asks for any. */
  const lookForLeftovers = async (signal: AbortSignal): Promise<void> => {
    const found = await Promise.all(
      (namespaces ?? [undefined]).map((namespace) =>
        client.list(pods, {
          labelSelector: PULL_LABEL,
          limit: 1,
          signal,
          ...(namespace !== undefined && { namespace }),
        }),
      ),
    );
    if (found.some(({ items }) => items.length > 0)) wanted.resolve();
  };

  return {
    /** To be told what is asked for. */
    requests,

    /** Keeps the cache of pull pods, once there is a use for it, until the signal aborts. */
    async run(signal: AbortSignal): Promise<void> {
      await Promise.race([wanted.promise, untilAborted(signal)]);
      for (const reflector of reflectors) reflector.whenSynced(signal).then(wakeAll, () => undefined);
      await Promise.all(reflectors.map((reflector) => reflector.run(signal)));
    },

    /** Pulls, reports and cleans up until the signal aborts; resolves once nothing of ours is in the air any more. */
    async lead(signal: AbortSignal): Promise<void> {
      const leading = createWorkQueue({ env, concurrency: CONCURRENCY, process: pass });
      queue = leading;
      // What another leader has done meanwhile is told by the cluster alone.
      attempts.clear();
      wakeAll();
      lookForLeftovers(signal).catch((error: unknown) => {
        if (signal.aborted) return;
        log.info('cannot look for pull pods of an earlier manager: their watch is opened', { error });
        wanted.resolve();
      });
      try {
        await leading.run(signal);
      } finally {
        queue = undefined;
      }
    },
  };
};
export type Prefetch = ReturnType<typeof createPrefetch>;
