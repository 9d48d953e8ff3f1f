import { isDeepStrictEqual } from 'node:util';
import { createReflector, createWorkQueue, nodes, splitKey, type WorkQueue } from '../../kube/index.ts';
import { createNodeReader, formatPlanName, type NodeInfo } from '../../rollout/index.ts';
import { anySignal, type Env, nextAllowedAt } from '../../runtime/index.ts';
import { firstFailure, type InternalError } from '../internal-error.ts';
import type { DaemonSetObject, DaemonSetView, RevisionView } from '../kind.ts';
import type { ManagedKind } from '../kind-adapter.ts';
import { createInformers } from '../watches/informers.ts';
import { stopManaging } from '../writes/stop-managing.ts';
import type { Controller, ControllerOptions } from './controller-options.ts';
import { createDaemonSetPlans } from './daemonset-plans.ts';
import { createOrder } from './order.ts';
import { createReconciler } from './reconciler.ts';
import type { ReconcileResult, Reconciler } from './reconciler-options.ts';

/** DaemonSets reconciled at the same time, and those of one namespace; each by one worker at a time. */
const CONCURRENCY = 8;
const PER_NAMESPACE = 4;
/** Pods of one DaemonSet that can't be listed for longer keep nobody else waiting. */
const POD_SYNC_TIMEOUT_MS = 30_000;
/**
 * Between two reconciles of one DaemonSet. The update of one node causes some ten events: a reconcile for each would be most of
 * the cost of a rollout.
 */
const RECONCILE_INTERVAL_MS = 50;
/** Of a reconcile that failed: doubles from `baseMs` to `maxMs`, less up to half at random. */
const RECONCILE_BACKOFF = { baseMs: 250, maxMs: 30_000 };

const keyOf = ({ namespace, name }: Pick<DaemonSetView, 'namespace' | 'name'>): string => `${namespace}/${name}`;

/** A DaemonSet that is managed. */
interface Entry<V extends DaemonSetView> {
  /** Without the plan that it names. */
  view: V;
  reconciler: Reconciler<V>;
  running: Promise<void>;
  /** Of its latest reconcile; 0 before the first. */
  startedAt: number;
  succeededAt: number | undefined;
  openedAt: number;
  /** It was reported that its pods can't be listed. */
  reported: boolean;
}

export const createController = <D extends DaemonSetObject, V extends DaemonSetView, P>(
  kind: ManagedKind<D, V, P>,
  options: ControllerOptions,
): Controller => {
  const { client, identity, metrics = {} } = options;
  const env: Env = { ...options.env, log: options.env.log.with({ controller: kind.controller }) };
  const { clock } = env;
  const reconcilers = new Map<string, Entry<V>>();
  /** Reconcilers that were closed, until their last write and their cache have ended: their DaemonSets' keys. */
  const closing = new Map<Promise<unknown>, string>();
  /** DaemonSets whose reconciler has failed and was closed, until another one has taken its place. */
  const replacing = new Set<string>();
  let queue: Pick<WorkQueue, 'add' | 'addAt' | 'retry'> | undefined;
  let running: AbortSignal | undefined;
  let connected = true;

  const enqueueAll = (): void => {
    for (const key of reconcilers.keys()) queue?.add(key);
    for (const each of informers) for (const key of each.managed()) queue?.add(key);
  };

  const enqueue = (key: string, why?: 'retry'): void => {
    if (why === 'retry') queue?.retry(key);
    else queue?.addAt(key, nextAllowedAt(reconcilers.get(key)?.startedAt ?? 0, RECONCILE_INTERVAL_MS, clock.now()));
  };

  const order = options.order ?? createOrder(clock);
  const failuresChanged = (): void => {
    for (const { reconciler } of reconcilers.values()) reconciler.failuresChanged();
  };

  const plans = createDaemonSetPlans<V>({
    client,
    env,
    namespaces: options.namespaces,
    apiGroup: kind.resource.group,
    order,
    checks: options.checks,
    views: () => reconcilers.values().map(({ view }) => view),
    changed(view) {
      const entry = reconcilers.get(keyOf(view));
      if (entry) update(entry);
    },
    failuresChanged,
    approvalsChanged: (view) => reconcilers.get(keyOf(view))?.reconciler.setApprovals(plans.approvalsOf(view)),
  });

  /** The DaemonSet, or its plan, has changed. What is wrong with one must not disturb others. */
  const update = ({ reconciler, view }: Pick<Entry<V>, 'reconciler' | 'view'>): void => {
    let next: V;
    try {
      next = plans.apply(view);
    } catch (error) {
      reconciler.fail(planOf(view), error);
      return;
    }
    reconciler.update(next);
  };

  const planOf = ({ policy }: V): string => {
    const plan = policy.policy.rolloutPlan;
    return plan ? `RolloutPlan ${formatPlanName(plan)}` : 'its rollout plan';
  };

  const readNode = createNodeReader();
  const nodeReflector = createReflector({
    client,
    env,
    resource: nodes,
    project: readNode,
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
        failuresChanged,
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

  /** Any node may be one on which a DaemonSet runs, or by which its plan would hold it. */
  const sharedFailure = (key: string, view: V): InternalError | undefined =>
    firstFailure('Node', nodeReflector.failures) ?? plans.failure(view) ?? failureInInformers(key, view.uid);

  const failureInInformers = (key: string, uid: string | undefined): InternalError | undefined =>
    informersOf(key)
      .map((each) => each.failure(key, uid))
      .find((failure) => failure !== undefined);

  const informersOf = (key: string) => {
    const { namespace } = splitKey(key);
    return informers.filter((each) => each.namespace === undefined || each.namespace === namespace);
  };

  const open = (key: string, view: V, signal: AbortSignal): void => {
    const reconciler = createReconciler({
      kind,
      view,
      controller: { ...options, env, order, metrics },
      caches: {
        nodes: nodeReflector.store,
        synced: sharedSynced,
        isConnected,
        accept(daemonSet) {
          for (const each of informersOf(key))
            if (daemonSet) each.accept(daemonSet);
            else each.acceptDeletion(key, view.uid);
        },
        plans: () => plans.stateOf(reconcilers.get(key)?.view ?? view),
        revisionsOf: (uid) => informers.flatMap((each) => each.revisionsOf(uid)),
        failure: () => sharedFailure(key, reconcilers.get(key)?.view ?? view),
      },
      enqueue: (why) => enqueue(key, why),
    });
    update({ reconciler, view });
    for (const node of nodeReflector.store.values()) reconciler.setNode(node);
    if (view.policy.policy.rolloutPlan) reconciler.setApprovals(plans.approvalsOf(view));
    reconcilers.set(key, {
      reconciler,
      view,
      running: reconciler.run(signal),
      startedAt: 0,
      succeededAt: undefined,
      openedAt: clock.now(),
      reported: false,
    });
    queue?.add(key);
  };

  const informers = (options.namespaces ?? [undefined]).map((namespace) =>
    createInformers({
      kind,
      client,
      env,
      namespace,
      synced: enqueueAll,
      failuresChanged,
      daemonSets: {
        upsert(key, view) {
          // One that was deleted and created again under the same name was removed before.
          const known = reconcilers.get(key);
          if (known) {
            known.view = view;
            update(known);
          } else if (running && !replacing.has(key)) open(key, view, running);
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
    return nodeReflector.synced && informers.every(({ synced }) => synced());
  }

  /** Watches of pods don't matter here: an update completes only when its watch says so, so a dead one starts no more. */
  function isConnected(): boolean {
    const before = connected;
    connected = [nodeReflector, ...informers].every((each) => each.isCurrent());
    if (before && !connected)
      env.log.warn('a watch is down, or the API server says nothing on it: no updates until it does');
    if (!before && connected) env.log.info('every watch receives from the API server again');
    return connected;
  }

  /** Its pods are cached, or could not be for so long that only this DaemonSet waits for them. */
  const isSettled = (entry: Entry<V>): boolean => {
    if (entry.reconciler.synced()) return true;
    if (clock.now() - entry.openedAt < POD_SYNC_TIMEOUT_MS) return false;
    if (!entry.reported)
      env.log.warn("the DaemonSet's pods cannot be listed: nothing of it is updated until they can", {
        ...splitKey(entry.reconciler.key),
      });
    entry.reported = true;
    return true;
  };

  /**
   * A reconciler that has failed is replaced by another one, which reads everything again as after a restart: what the first
   * one missed is nowhere else.
   */
  const replaceFailed = async (key: string, signal: AbortSignal): Promise<void> => {
    if (reconcilers.get(key)?.reconciler.hasFailed()) {
      replacing.add(key);
      close(key);
    }
    if (!replacing.has(key)) return;
    // Its last writes must be in what the other one reads.
    await Promise.all(closing.entries().flatMap(([ended, of]) => (of === key ? [ended] : [])));
    const view = informersOf(key)
      .map((each) => each.daemonSet(key))
      .find((found) => found !== undefined);
    if (view && running && !running.aborted && !reconcilers.has(key)) open(key, view, running);
    replacing.delete(key);
    const reconciler = reconcilers.get(key)?.reconciler;
    const timeout = new AbortController();
    const timer = clock.timer(POD_SYNC_TIMEOUT_MS, () => timeout.abort(new Error('its pods cannot be listed')));
    await reconciler?.whenSynced(anySignal(signal, timeout.signal)).catch(() => undefined);
    timer.cancel();
    signal.throwIfAborted();
  };

  const reconcile = async (key: string, signal: AbortSignal): Promise<ReconcileResult> => {
    await replaceFailed(key, signal);
    const entry = reconcilers.get(key);
    if (entry) entry.startedAt = clock.now();
    try {
      const result = await (entry ? entry.reconciler.reconcile(signal) : reconcileUnmanaged(key, signal));
      if (entry) entry.succeededAt = clock.now();
      return result;
    } catch (error) {
      // It was closed meanwhile: its failure no longer matters.
      if (entry && reconcilers.get(key) !== entry) return {};
      throw error;
    }
  };

  const reconcileUnmanaged = async (key: string, signal: AbortSignal): Promise<ReconcileResult> => {
    // It may be managed, as far as we can tell.
    if (failureInInformers(key, undefined)) return {};
    // Writes that are still on their way to pods would be missed there.
    if (!sharedSynced() || closing.values().some((other) => other === key)) return {};
    const stopped = await stopManaging(client, kind, splitKey(key), identity, clock, signal);
    if (stopped) env.log.info('the DaemonSet is no longer managed', splitKey(key));
    return {};
  };

  return {
    async run(signal) {
      running = signal;
      nodeReflector.whenSynced(signal).then(enqueueAll, () => undefined);
      await Promise.all([nodeReflector.run(signal), ...informers.map((each) => each.run(signal)), plans.run(signal)]);
      await Promise.all([...reconcilers.values()].map((entry) => entry.running));
      await Promise.all(closing.keys());
    },

    async lead(signal) {
      const leading = createWorkQueue({
        env,
        concurrency: CONCURRENCY,
        perGroup: PER_NAMESPACE,
        backoff: RECONCILE_BACKOFF,
        ...(metrics.queue && { metrics: metrics.queue }),
        process: reconcile,
      });
      queue = leading;
      for (const { reconciler } of reconcilers.values()) reconciler.beginTerm();
      enqueueAll();
      try {
        await leading.run(signal);
      } finally {
        queue = undefined;
        await Promise.all([...reconcilers.values()].map(({ reconciler }) => reconciler.stopLeading()));
        await Promise.all(closing.keys());
      }
    },

    synced: () => sharedSynced() && [...reconcilers.values()].every(isSettled),

    node: (name) => nodeReflector.store.get(name),

    serves: (uid) => reconcilers.values().some(({ reconciler }) => reconciler.uid === uid),

    *snapshot() {
      for (const [key, { reconciler, succeededAt }] of reconcilers) {
        const { namespace = '', name } = splitKey(key);
        const { ledger } = reconciler;
        const hasError = reconciler.internalError() !== undefined;
        yield { namespace, name, ledger, summary: reconciler.summary(), reconciledAt: succeededAt, hasError };
      }
    },
  };
};
