import { isDeepStrictEqual } from 'node:util';
import {
  createReflector,
  createWorkQueue,
  type EventRecorder,
  type KubeClient,
  splitKey,
  type WorkQueue,
} from '../kube/index.ts';
import { type ImageRequests, type Ledger, type NodeInfo, toNodeInfo } from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import { createInformers } from './informers.ts';
import type { DaemonSetObject, DaemonSetView } from './kind.ts';
import type { ManagedKind } from './kind-adapter.ts';
import type { ControllerMetrics } from './observer.ts';
import { createPacing, turnAfter } from './pacing.ts';
import { createReconciler, type Reconciler } from './reconciler.ts';
import { nodes } from './resources.ts';
import type { RevisionView } from './revisions.ts';
import { stopManaging } from './stop-managing.ts';

export interface ControllerOptions {
  client: KubeClient;
  env: Env;
  events: EventRecorder;
  /** Unique to this process: reservations and fences carry it. */
  identity: string;
  /** Default: all. */
  namespaces?: readonly string[];
  metrics?: ControllerMetrics;
  /** Is told of the images that pods ask for. Default: nobody pulls any. */
  images?: ImageRequests;
  /** Images are pulled ahead of updates also where no annotation says so. Default: false. */
  pullsByDefault?: boolean;
  /** Where agents are that pull images. Default: where the Node says so. */
  agents?: ImageAgents;
}

/** Agents that pull images by themselves, by node. */
export interface ImageAgents {
  has(node: string): boolean;
  /** `listener` is called with the name of a node whose agent came or went. Returns a function that ends it. */
  onChange(listener: (node: string) => void): () => void;
  /** They are known, or are not waited for any more; `settled` resolves then. */
  isSettled(): boolean;
  settled: Promise<void>;
}

export interface RolloutSnapshot {
  namespace: string;
  name: string;
  ledger: Ledger;
}

/** DaemonSets passed over at the same time; each by one pass at a time. */
const CONCURRENCY = 4;
/** The API server sends a bookmark a minute on every watch, so this is the second one missed. */
const OUT_OF_TOUCH_MS = 120_000;
/** A clock that is slewed may step back a little. */
const CLOCK_SLACK_MS = 1_000;
/** What one node goes through brings some ten events: a pass for each would be most of what a rollout costs. */
const PASS_EVERY_MS = 50;
/** A pass that failed is not repeated sooner, however many events ask for it. */
const PASS_PACE = { firstMs: 250, longestMs: 30_000 };

/**
 * The controller for one kind of DaemonSet. Caches are kept whether it leads or not, so that a failover costs no list;
 * acts and writes are made only while `lead` runs.
 */
export const createController = <D extends DaemonSetObject, V extends DaemonSetView, P>(
  kind: ManagedKind<D, V, P>,
  options: ControllerOptions,
) => {
  const { client, events, identity, metrics = {} } = options;
  const env: Env = { ...options.env, log: options.env.log.with({ controller: kind.controller }) };
  const { clock } = env;
  const reconcilers = new Map<string, { reconciler: Reconciler<V>; running: Promise<void>; passedAt: number }>();
  const pace = createPacing(PASS_PACE);
  /** Sessions that were closed and whose last acts or cache have not ended. */
  const ending = new Map<Promise<unknown>, string>();
  let queue: Pick<WorkQueue, 'add' | 'addAt'> | undefined;
  let running: AbortSignal | undefined;

  const wakeAll = (): void => {
    for (const key of reconcilers.keys()) queue?.add(key);
    for (const each of informers) for (const key of each.managed()) queue?.add(key);
  };

  /** A pass at once, or as soon as the last one is long enough ago. */
  const askPass = (key: string): void => {
    const last = reconcilers.get(key)?.passedAt ?? Number.NEGATIVE_INFINITY;
    queue?.addAt(key, turnAfter(last, PASS_EVERY_MS, clock.now()));
  };

  const pulls = (node: string): boolean => options.agents?.has(node) ?? false;

  const nodeReflector = createReflector({
    client,
    env,
    resource: nodes,
    project: toNodeInfo,
    handlers: [
      {
        upsert: (_key: string, node: NodeInfo, previous: NodeInfo | undefined) => {
          // A heartbeat says nothing new, and is not worth a look by every DaemonSet.
          if (isDeepStrictEqual(node, previous)) return;
          for (const { reconciler } of reconcilers.values()) reconciler.setNode(node, previous);
        },
        remove: (_key: string, node: NodeInfo) => {
          for (const { reconciler } of reconcilers.values()) reconciler.removeNode(node.name);
        },
      },
    ],
  });

  const close = (key: string): void => {
    const entry = reconcilers.get(key);
    if (!entry) return;
    reconcilers.delete(key);
    const ended: Promise<unknown> = Promise.all([entry.reconciler.close(), entry.running]).finally(() => {
      ending.delete(ended);
      // What its rollout object and its pods say holds no longer.
      queue?.add(key);
    });
    ending.set(ended, key);
  };

  const open = (key: string, view: V, signal: AbortSignal): void => {
    const reconciler = createReconciler({
      kind,
      client,
      env,
      events,
      identity,
      view,
      nodes: nodeReflector.store,
      sharedSynced,
      inTouch,
      revisionsOf,
      enqueue: () => askPass(key),
      images: options.images,
      pullsByDefault: options.pullsByDefault ?? false,
      pulls,
      metrics,
    });
    for (const node of nodeReflector.store.values()) reconciler.setNode(node);
    reconcilers.set(key, { reconciler, running: reconciler.run(signal), passedAt: Number.NEGATIVE_INFINITY });
    queue?.add(key);
  };

  const informers = (options.namespaces ?? [undefined]).map((namespace) =>
    createInformers({
      kind,
      client,
      env,
      namespace,
      filled: wakeAll,
      daemonSets: {
        upsert(key, view) {
          // One that was deleted and made again under the same name was told as removed before.
          const known = reconcilers.get(key)?.reconciler;
          if (known) known.update(view);
          else if (running) open(key, view, running);
        },
        remove: close,
      },
      revisions: { upsert: wakeOwner, remove: wakeOwner },
      rollouts: {
        upsert(_key, { daemonSet, saysManaged }) {
          if (saysManaged && !reconcilers.has(daemonSet)) queue?.add(daemonSet);
        },
        remove: (_key, { daemonSet }) => reconcilers.get(daemonSet)?.reconciler.rolloutDeleted(),
      },
    }),
  );

  function wakeOwner(_key: string, revision: RevisionView): void {
    for (const { reconciler } of reconcilers.values())
      if (reconciler.uid === revision.ownerUid) queue?.add(reconciler.key);
  }

  function sharedSynced(): boolean {
    const agentsKnown = options.agents?.isSettled() ?? true;
    return agentsKnown && nodeReflector.synced && informers.every((each) => each.synced());
  }

  /** Of pods nothing need be asked here: an act heals only when their watch says so, and so a dead one begins no more. */
  function inTouch(): boolean {
    const now = clock.now();
    return [nodeReflector.lastActivityAt, ...informers.map((each) => each.lastActivityAt())].every(
      (at) => now - at <= OUT_OF_TOUCH_MS && at - now <= CLOCK_SLACK_MS,
    );
  }

  function revisionsOf(ownerUid: string): readonly RevisionView[] {
    return informers.flatMap((each) => each.revisionsOf(ownerUid));
  }

  const pass = async (key: string, signal: AbortSignal): Promise<{ requeueAt?: number }> => {
    const now = clock.now();
    const until = pace.until(key, now);
    if (until > now) return { requeueAt: until };
    const entry = reconcilers.get(key);
    const reconciler = entry?.reconciler;
    if (entry) entry.passedAt = now;
    try {
      const next = await (reconciler ? reconciler.reconcile(signal) : retireUnserved(key, signal));
      pace.succeeded(key);
      return next;
    } catch (error) {
      // Closed under way: what failed is of no interest any more.
      if (reconciler && reconcilers.get(key)?.reconciler !== reconciler) return {};
      pace.failed(key, clock.now());
      throw error;
    }
  };

  const retireUnserved = async (key: string, signal: AbortSignal): Promise<{ requeueAt?: number }> => {
    // What is still on its way to pods would not be found on them.
    if (!sharedSynced() || ending.values().some((other) => other === key)) return {};
    const retired = await stopManaging(client, kind, splitKey(key), identity, clock, signal);
    if (retired) env.log.info('the DaemonSet is not managed any more', splitKey(key));
    return {};
  };

  return {
    /** Fills and keeps the caches until the signal aborts. */
    async run(signal: AbortSignal): Promise<void> {
      running = signal;
      nodeReflector.whenSynced(signal).then(wakeAll, () => undefined);
      options.agents?.settled.then(wakeAll, () => undefined);
      const off = options.agents?.onChange((name) => {
        const node = nodeReflector.store.get(name);
        if (node) for (const { reconciler } of reconcilers.values()) reconciler.setNode(node);
      });
      await Promise.all([nodeReflector.run(signal), ...informers.map((each) => each.run(signal))]);
      await Promise.all([...reconcilers.values()].map((entry) => entry.running));
      await Promise.all(ending.keys());
      off?.();
    },

    /** Acts until the signal aborts; resolves once nothing of ours is in the air any more. */
    async lead(signal: AbortSignal): Promise<void> {
      const leading = createWorkQueue({
        env,
        concurrency: CONCURRENCY,
        ...(metrics.queue && { metrics: metrics.queue }),
        process: pass,
      });
      queue = leading;
      wakeAll();
      try {
        await leading.run(signal);
      } finally {
        queue = undefined;
        await Promise.all([...reconcilers.values()].map(({ reconciler }) => reconciler.stopLeading()));
        await Promise.all(ending.keys());
      }
    },

    /** The caches hold a consistent view of everything that is served. */
    synced: (): boolean => sharedSynced() && [...reconcilers.values()].every(({ reconciler }) => reconciler.synced()),

    /** Of a node that is not known: false. */
    nodeReady: (name: string): boolean => nodeReflector.store.get(name)?.ready ?? false,

    /** The DaemonSet of this UID is one of those that are served. */
    serves: (uid: string): boolean => reconcilers.values().some(({ reconciler }) => reconciler.uid === uid),

    /** What is served, for metrics. */
    *snapshot(): Generator<RolloutSnapshot> {
      for (const [key, { reconciler }] of reconcilers) {
        const { namespace = '', name } = splitKey(key);
        yield { namespace, name, ledger: reconciler.ledger };
      }
    },
  };
};
export type Controller = ReturnType<typeof createController>;
