import { isDeepStrictEqual } from 'node:util';
import {
  createReflector,
  createWorkQueue,
  type EventRecorder,
  type KubeClient,
  nodes,
  splitKey,
  type WorkQueue,
} from '../kube/index.ts';
import { type ImageRequests, type Ledger, type NodeInfo, toNodeInfo } from '../rollout/index.ts';
import { createKeyedBackoff, type Env, nextAllowedAt } from '../runtime/index.ts';
import { createInformers } from './informers.ts';
import type { DaemonSetObject, DaemonSetView } from './kind.ts';
import type { ControllerMetrics, ManagedKind } from './kind-adapter.ts';
import { createReconciler, type ReconcileResult, type Reconciler } from './reconciler.ts';
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
  /** Receives the pods' requests for images. Default: nothing pulls images ahead. */
  images?: ImageRequests;
  /** Images are pulled ahead of updates also where no annotation asks for it. Default: false. */
  pullsByDefault?: boolean;
  /** The agents that pull images. Default: those that Nodes report. */
  agents?: ImageAgents;
}

/** The agents that pull images, by node. */
export interface ImageAgents {
  has(node: string): boolean;
  /** `listener` is called with the name of a node whose agent was added or removed. Returns a function that ends this. */
  onChange(listener: (node: string) => void): () => void;
  /** The agents are known, or the wait for them has timed out; `settled` resolves then. */
  isSettled(): boolean;
  settled: Promise<void>;
}

export interface RolloutSnapshot {
  namespace: string;
  name: string;
  ledger: Ledger;
}

/** DaemonSets reconciled at the same time; each by one worker at a time. */
const CONCURRENCY = 4;
/** The API server sends a bookmark per minute on every watch: at this age, the second one is missing. */
const CONNECTION_TIMEOUT_MS = 120_000;
/** A clock that is being adjusted may step back a little. */
const CLOCK_SLACK_MS = 1_000;
/** The update of one node causes some ten events: a reconcile for each would be most of the cost of a rollout. */
const RECONCILE_INTERVAL_MS = 50;
/** A reconcile that failed is retried with this back-off, however many events ask for it. */
const RECONCILE_BACKOFF = { baseMs: 250, maxMs: 30_000 };

/**
 * The controller for one kind of DaemonSet. It keeps its caches whether it leads or not, so that a failover costs no list;
 * it writes only while `lead` runs.
 */
export const createController = <D extends DaemonSetObject, V extends DaemonSetView, P>(
  kind: ManagedKind<D, V, P>,
  options: ControllerOptions,
) => {
  const { client, events, identity, metrics = {} } = options;
  const env: Env = { ...options.env, log: options.env.log.with({ controller: kind.controller }) };
  const { clock } = env;
  const reconcilers = new Map<string, { reconciler: Reconciler<V>; running: Promise<void>; reconciledAt: number }>();
  const backoff = createKeyedBackoff(RECONCILE_BACKOFF);
  /** Reconcilers that were closed, until their last write and their cache have ended: their DaemonSets' keys. */
  const closing = new Map<Promise<unknown>, string>();
  let queue: Pick<WorkQueue, 'add' | 'addAt'> | undefined;
  let running: AbortSignal | undefined;

  const enqueueAll = (): void => {
    for (const key of reconcilers.keys()) queue?.add(key);
    for (const each of informers) for (const key of each.managed()) queue?.add(key);
  };

  /** Reconciles at once, or as soon as the last time is long enough ago. */
  const enqueue = (key: string): void => {
    const last = reconcilers.get(key)?.reconciledAt ?? Number.NEGATIVE_INFINITY;
    queue?.addAt(key, nextAllowedAt(last, RECONCILE_INTERVAL_MS, clock.now()));
  };

  const hasImageAgent = (node: string): boolean => options.agents?.has(node) ?? false;

  const nodeReflector = createReflector({
    client,
    env,
    resource: nodes,
    project: toNodeInfo,
    handlers: [
      {
        upsert: (_key: string, node: NodeInfo, previous: NodeInfo | undefined) => {
          // A heartbeat changes nothing that a DaemonSet depends on.
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
      closing.delete(ended);
      // What its DaemonRollout and its pods say is out of date.
      queue?.add(key);
    });
    closing.set(ended, key);
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
      isConnected,
      revisionsOf,
      enqueue: () => enqueue(key),
      images: options.images,
      pullsByDefault: options.pullsByDefault ?? false,
      hasImageAgent,
      metrics,
    });
    for (const node of nodeReflector.store.values()) reconciler.setNode(node);
    reconcilers.set(key, { reconciler, running: reconciler.run(signal), reconciledAt: Number.NEGATIVE_INFINITY });
    queue?.add(key);
  };

  const informers = (options.namespaces ?? [undefined]).map((namespace) =>
    createInformers({
      kind,
      client,
      env,
      namespace,
      synced: enqueueAll,
      daemonSets: {
        upsert(key, view) {
          // One that was deleted and created again under the same name was removed before.
          const known = reconcilers.get(key)?.reconciler;
          if (known) known.update(view);
          else if (running) open(key, view, running);
        },
        remove: close,
      },
      revisions: { upsert: enqueueOwner, remove: enqueueOwner },
      rollouts: {
        upsert(_key, { daemonSet, saysManaged }) {
          if (saysManaged && !reconcilers.has(daemonSet)) queue?.add(daemonSet);
        },
        remove: (_key, { daemonSet }) => reconcilers.get(daemonSet)?.reconciler.rolloutDeleted(),
      },
    }),
  );

  function enqueueOwner(_key: string, revision: RevisionView): void {
    for (const { reconciler } of reconcilers.values())
      if (reconciler.uid === revision.ownerUid) queue?.add(reconciler.key);
  }

  function sharedSynced(): boolean {
    const agentsKnown = options.agents?.isSettled() ?? true;
    return agentsKnown && nodeReflector.synced && informers.every(({ synced }) => synced());
  }

  /** Watches of pods don't matter here: an update completes only when its watch says so, so a dead one starts no more. */
  function isConnected(): boolean {
    const now = clock.now();
    return [nodeReflector.lastActivityAt, ...informers.map(({ lastActivityAt }) => lastActivityAt())].every(
      (at) => now - at <= CONNECTION_TIMEOUT_MS && at - now <= CLOCK_SLACK_MS,
    );
  }

  function revisionsOf(ownerUid: string): readonly RevisionView[] {
    return informers.flatMap((each) => each.revisionsOf(ownerUid));
  }

  const reconcile = async (key: string, signal: AbortSignal): Promise<ReconcileResult> => {
    const now = clock.now();
    const nextAttemptAt = backoff.nextAttemptAt(key, now);
    if (nextAttemptAt > now) return { requeueAt: nextAttemptAt };
    const entry = reconcilers.get(key);
    if (entry) entry.reconciledAt = now;
    try {
      const result = await (entry ? entry.reconciler.reconcile(signal) : reconcileUnmanaged(key, signal));
      backoff.reset(key);
      return result;
    } catch (error) {
      // It was closed meanwhile: its failure no longer matters.
      if (entry && reconcilers.get(key) !== entry) return {};
      backoff.failed(key, clock.now());
      throw error;
    }
  };

  const reconcileUnmanaged = async (key: string, signal: AbortSignal): Promise<ReconcileResult> => {
    // Writes that are still on their way to pods would be missed there.
    if (!sharedSynced() || closing.values().some((other) => other === key)) return {};
    const stopped = await stopManaging(client, kind, splitKey(key), identity, clock, signal);
    if (stopped) env.log.info('the DaemonSet is no longer managed', splitKey(key));
    return {};
  };

  return {
    /** Fills and keeps the caches until the signal aborts. */
    async run(signal: AbortSignal): Promise<void> {
      running = signal;
      nodeReflector.whenSynced(signal).then(enqueueAll, () => undefined);
      options.agents?.settled.then(enqueueAll, () => undefined);
      const off = options.agents?.onChange((name) => {
        const node = nodeReflector.store.get(name);
        if (node) for (const { reconciler } of reconcilers.values()) reconciler.setNode(node);
      });
      await Promise.all([nodeReflector.run(signal), ...informers.map((each) => each.run(signal))]);
      await Promise.all([...reconcilers.values()].map((entry) => entry.running));
      await Promise.all(closing.keys());
      off?.();
    },

    /** Reconciles until the signal aborts; resolves once no write is in flight. */
    async lead(signal: AbortSignal): Promise<void> {
      const leading = createWorkQueue({
        env,
        concurrency: CONCURRENCY,
        ...(metrics.queue && { metrics: metrics.queue }),
        process: reconcile,
      });
      queue = leading;
      enqueueAll();
      try {
        await leading.run(signal);
      } finally {
        queue = undefined;
        await Promise.all([...reconcilers.values()].map(({ reconciler }) => reconciler.stopLeading()));
        await Promise.all(closing.keys());
      }
    },

    /** The caches hold a consistent view of everything that is managed. */
    synced: (): boolean => sharedSynced() && [...reconcilers.values()].every(({ reconciler }) => reconciler.synced()),

    /** False for an unknown node. */
    nodeReady: (name: string): boolean => nodeReflector.store.get(name)?.ready ?? false,

    /** Manages the DaemonSet of this UID. */
    serves: (uid: string): boolean => reconcilers.values().some(({ reconciler }) => reconciler.uid === uid),

    /** The managed DaemonSets, for metrics. */
    *snapshot(): Generator<RolloutSnapshot> {
      for (const [key, { reconciler }] of reconcilers) {
        const { namespace = '', name } = splitKey(key);
        yield { namespace, name, ledger: reconciler.ledger };
      }
    },
  };
};
export type Controller = ReturnType<typeof createController>;
