import { ifFound, isKubeError } from '../../kube/index.ts';
import {
  createLedger,
  type Decision,
  decide,
  hasUnusableName,
  type OutsideHold,
  type Summary,
} from '../../rollout/index.ts';
import { anySignal } from '../../runtime/index.ts';
import { createOutbox } from '../events/outbox.ts';
import { createRolloutEvents } from '../events/rollout-events.ts';
import { createFailureGuard, firstFailure, InternalError } from '../internal-error.ts';
import { type DaemonSetObject, type DaemonSetView, toDaemonSetRef } from '../kind.ts';
import type { Target } from '../kind-adapter.ts';
import { RolloutObjectError } from '../status/daemon-rollout.ts';
import { createRolloutStore } from '../status/rollout-store.ts';
import { createImageRequestTracker } from '../watches/image-requests.ts';
import { createRolloutModel, podCacheOf, watchPods } from '../watches/rollout-model.ts';
import { createDecisionExecutor } from '../writes/decision-executor.ts';
import { createPodControl, POD_WRITE_TIMEOUT_MS } from '../writes/pod-control.ts';
import { stopManaging } from '../writes/stop-managing.ts';
import { createCatchUp } from './catch-up.ts';
import { unreadablePlan } from './daemonset-plans.ts';
import type { OrderMember } from './order.ts';
import {
  NEVER,
  type ReconcileResult,
  type Reconciler,
  type ReconcilerOptions,
  requeueAt,
} from './reconciler-options.ts';
import { createStageChecks } from './stage-checks.ts';

/** How long writes in flight may take once leadership is lost: well within what the lease leaves. */
const DRAIN_MS = 500;
/**
 * How often to check a connection that is lost: bookmarks trigger no reconcile, and an update has to begin within a second of
 * the one that ends the wait.
 */
const RECHECK_MS = 500;
/** The plans of the cluster should be known by then. */
const PLANS_TIMEOUT_MS = 15_000;

const noTarget: Target = { kind: 'held', hold: { kind: 'unobserved' }, recheckAt: NEVER };

export const createReconciler = <D extends DaemonSetObject, V extends DaemonSetView, P>(
  options: ReconcilerOptions<D, V, P>,
): Reconciler<V> => {
  const { kind, controller, caches, enqueue } = options;
  const { client, identity, metrics, order, checks, notifier, aheadMs } = controller;
  const { namespace, name, uid } = options.view;
  const env = { ...controller.env, log: controller.env.log.with({ namespace, name }) };
  const { clock, log } = env;
  const failures = createFailureGuard({
    log,
    onFailed() {
      stageChecks?.stop();
      order.rolloutChanged(member);
      enqueue();
    },
    retry: () => enqueue('retry'),
  });
  const { fail, guard } = failures;

  const ledger = createLedger(options.view.policy.policy, {
    pullsByDefault: controller.pullsByDefault ?? false,
    ...(aheadMs && { aheadMs }),
    onOrderChanged: (node) => order.nodeChanged(member, node),
    onFailed: (error) => fail('the state of its nodes', error),
    onUpdateCompleted: (ms) => metrics.nodeUpdated?.({ namespace, name }, ms / 1000),
  });
  const daemonSet = toDaemonSetRef(kind, options.view);
  const events = createRolloutEvents(controller.events, daemonSet);
  const outbox = notifier && createOutbox({ notifier, daemonSet, clock, onSettled: enqueue });
  const store = createRolloutStore({
    client,
    daemonSet,
    ledger,
    events,
    outbox,
    metrics,
    env,
    identity,
  });
  const view = (): V => model.view();
  const imageRequests = createImageRequestTracker({ requests: controller.images, view, ledger });
  const model = createRolloutModel<V, P>({
    clock,
    ledger,
    view: options.view,
    nodes: caches.nodes,
    projection: kind.pods,
    images: imageRequests,
    kindHandlers: () => adapter.eventHandlers,
    enqueue,
  });
  const pods = watchPods({
    client,
    env,
    model,
    projection: kind.pods,
    guard,
    synced: () => imageRequests.podsSynced(),
    failuresChanged: () => failuresChanged(),
  });
  const podCache = podCacheOf(pods, options.view);
  const podControl = createPodControl(client, namespace, identity, clock, podCache);
  const catchUp = createCatchUp(async (signal) =>
    caches.accept(await ifFound(client.get(kind.resource, { namespace, name }, { signal }))),
  );
  const adapter = kind.createAdapter({
    client,
    env,
    identity,
    view,
    ledger,
    nodes: caches.nodes,
    pods: pods.store,
    podCache,
    revisions: () => caches.revisionsOf(uid),
    podControl,
    events,
    metrics,
    enqueue,
    accept: caches.accept,
    refused: catchUp.refuse,
  });
  const executor = createDecisionExecutor({
    client,
    env,
    ledger,
    store,
    podControl,
    adapter,
    events,
    metrics,
    accept: caches.accept,
    onWriteDone: enqueue,
  });

  /** What is known of the DaemonSet may not be all: whatever is decided by that could be wrong. */
  const internalError = (): InternalError | undefined =>
    failures.failure() ?? firstFailure('Pod', pods.failures) ?? caches.failure();

  const failuresChanged = (): void => {
    order.rolloutChanged(member);
    enqueue('retry');
  };

  const member: OrderMember = {
    apiGroup: kind.resource.group,
    namespace,
    name,
    ledger,
    setWaitsFor: (node, first, now) => guard(`Node ${node}`, () => ledger.setWaitsFor(node, first, now)),
    isCurrent: () => decidedGeneration === view().generation,
    isComplete: () => summary?.complete ?? false,
    isUnknown: () => internalError() !== undefined,
    changed: enqueue,
  };
  const stageChecks = checks && createStageChecks({ ...checks, daemonSet, ledger, view, clock, changed: enqueue });
  const closed = new AbortController();
  let term: { leading: AbortSignal; signal: AbortSignal } | undefined;
  let initialSync = true;
  let connected = true;
  /** The DaemonRollout of a DaemonSet that is being deleted says so, if there is one. */
  let ended = false;
  let plansMissedSince: number | undefined;
  /** Of the latest decision. */
  let summary: Summary | undefined;
  /** The generation whose target that was about; undefined: none of this term of leadership. */
  let decidedGeneration: number | undefined;

  const leaveOrder = order.join(member);
  order.planChanged(member);

  const synced = (): boolean => caches.synced() && pods.synced;
  const untilClosed = (leading: AbortSignal): AbortSignal => {
    if (term?.leading !== leading) term = { leading, signal: anySignal(leading, closed.signal) };
    return term.signal;
  };

  const outsideHold = (target: Target): OutsideHold | undefined => {
    const { policy } = view();
    if (!connected) return { kind: 'unsynced' };
    if (plansNeeded() === 'missing') return plansMissing();
    plansMissedSince = undefined;
    if (plansNeeded() === 'stale') return { kind: 'unsynced' };
    if (policy.kind === 'invalid') return { kind: 'invalid', errors: policy.errors };
    return target.kind === 'held' ? target.hold : undefined;
  };

  const plansNeeded = () => (view().policy.policy.rolloutPlan === undefined ? 'known' : caches.plans());

  /** Before the first list; if it lasts, there is something to mend. */
  const plansMissing = (): OutsideHold => {
    const now = clock.now();
    plansMissedSince = Math.min(plansMissedSince ?? now, now);
    if (now - plansMissedSince < PLANS_TIMEOUT_MS) return { kind: 'unsynced' };
    return unreadablePlan(view());
  };

  const decideNow = (target: Target, { generation }: V): Decision => {
    const now = clock.now();
    ledger.tick(now);
    imageRequests.refreshIfChanged();
    const decision = decide(ledger, outsideHold(target), now, {
      refusal: adapter.refusal?.(),
      firstWave: controller.firstWave,
    });
    const before = { generation: decidedGeneration, complete: summary?.complete };
    ({ summary } = decision);
    if (target.kind === 'known') decidedGeneration = generation;
    if (decidedGeneration !== before.generation || summary.complete !== before.complete) order.rolloutChanged(member);
    return decision;
  };

  const drain = async (graceMs: number, announcementsGraceMs: number): Promise<void> => {
    await Promise.all([executor.drain(graceMs, announcementsGraceMs), adapter.drain?.(graceMs)]);
  };

  /** Says what cannot be computed, as far as the API server lets us. */
  const reportError = async ({ message }: InternalError, signal: AbortSignal): Promise<void> => {
    // The DaemonSet itself may be what cannot be computed.
    if (!catchUp.isRefused(view().resourceVersion)) adapter.reportError(view(), message);
    try {
      await store.writeError(message, signal);
    } catch (error) {
      if (!signal.aborted) log.warn('failed to report an internal error', { error });
    }
  };

  const reconcile = async (signal: AbortSignal): Promise<ReconcileResult> => {
    connected = caches.isConnected();
    let announced = false;
    for (;;) {
      const seen = view();
      const finalizeAt = connected ? await adapter.finalize?.(seen, signal) : undefined;
      if (finalizeAt !== undefined) {
        // Metrics have to say that it is held.
        if (hasUnusableName(seen.policy)) decideNow(noTarget, seen);
        else if (!ended) await stopManaging(client, kind, seen, identity, clock, signal);
        ended = true;
        await catchUp.run(signal);
        return requeueAt(finalizeAt);
      }
      const freeAt = await store.load(signal);
      if (freeAt !== undefined) return requeueAt(freeAt);
      await catchUp.run(signal);
      const target = await adapter.findTarget(seen, signal);
      signal.throwIfAborted();
      // The DaemonSet changed while we read: start nothing for what it asked before, and nothing for one that is being deleted.
      if (view() !== seen || catchUp.isDue()) continue;
      const now = clock.now();
      if (target.kind === 'known') ledger.setTarget(target.revision, now, seen.origin);
      connected = caches.isConnected();
      const decision = decideNow(target, seen);
      const error = internalError();
      if (error) throw error;
      // Before the first announcement the DaemonRollout must say that the DaemonSet is managed.
      const firstAnnouncement =
        !announced && !store.saysManaged && decision.actions.some(({ type }) => type === 'announce');
      // Reservations that are no longer wanted need not be written at all.
      if (store.unwritten && executor.releaseUnsent(decision)) continue;
      if (store.unwritten || firstAnnouncement) {
        announced = true;
        await store.write(decision, seen, signal);
        continue;
      }
      if (connected) stageChecks?.follow();
      const { changed, nextAttemptAt } = await executor.execute(decision, seen, signal);
      if (changed) continue;
      const { changes } = ledger;
      const manageAt = connected ? await adapter.manage?.({ view: seen, decision, signal }) : undefined;
      // A status is of one moment. What has changed meanwhile is acted upon in the next pass.
      const latest = ledger.changes === changes ? decision : decideNow(target, seen);
      return requeueAt(
        decision.wakeAt,
        nextAttemptAt,
        manageAt ?? NEVER,
        await store.writeWhenDue(latest, seen, signal),
        store.notify(signal),
        target.kind === 'held' ? target.recheckAt : NEVER,
        connected && plansNeeded() === 'known' ? NEVER : now + RECHECK_MS,
      );
    }
  };

  return {
    key: `${namespace}/${name}`,
    uid,
    ledger,
    summary: () => summary,
    internalError,
    hasFailed: failures.isReported,
    fail,
    failuresChanged,
    setNode: (node, previous) =>
      guard(`Node ${node.name}`, () => {
        model.setNode(node, previous);
        order.nodesAdded(member, [node.name]);
      }),
    removeNode: (node) => guard(`Node ${node}`, () => model.removeNode(node)),
    synced,
    whenSynced: (signal) => pods.whenSynced(anySignal(signal, closed.signal)),
    run(signal) {
      const ending = anySignal(signal, closed.signal);
      pods.whenSynced(ending).then(
        () => enqueue(),
        () => undefined,
      );
      return pods.run(ending);
    },

    update: (next) =>
      guard(kind.resource.kind, () => {
        const { generation } = view();
        for (const warning of next.policy.warnings) events.policyWarning(warning);
        const { policyChanged, nodesChanged } = model.update(next);
        const names = ledger.records().map((record) => record.name);
        if (nodesChanged) order.nodesAdded(member, names.toArray());
        if (policyChanged) imageRequests.refresh();
        if (policyChanged) order.planChanged(member);
        if (generation !== next.generation) order.rolloutChanged(member);
        enqueue();
      }),

    setApprovals: (approvals) =>
      guard('its RolloutApprovals', () => {
        ledger.setApprovals(approvals);
        enqueue();
      }),

    rolloutDeleted() {
      store.forget();
      enqueue();
    },

    async reconcile(leading) {
      const signal = untilClosed(leading);
      signal.throwIfAborted();
      if (!synced() && !failures.failure()) return {};
      try {
        const error = internalError();
        if (error) throw error;
        if (initialSync) {
          initialSync = false;
          ledger.finishInitialSync();
          for (const warning of view().policy.warnings) events.policyWarning(warning);
        }
        return await reconcile(signal);
      } catch (error) {
        if (signal.aborted || isKubeError(error) || error instanceof RolloutObjectError) throw error;
        if (!(error instanceof InternalError)) fail('the rollout', error);
        const toReport = error instanceof InternalError ? error : failures.failure();
        if (toReport) await reportError(toReport, signal);
        failures.reported();
        throw toReport ?? error;
      }
    },

    beginTerm: () => failures.reported(),

    async stopLeading() {
      stageChecks?.stop();
      await drain(DRAIN_MS, DRAIN_MS);
      store.release();
      catchUp.begin();
      decidedGeneration = undefined;
      order.rolloutChanged(member);
    },

    async close() {
      // One that has failed is replaced, and sends what the status lists.
      if (!failures.isReported()) outbox?.giveUp();
      closed.abort(new Error('the DaemonSet is no longer managed'));
      leaveOrder();
      stageChecks?.stop();
      imageRequests.close();
      await drain(0, POD_WRITE_TIMEOUT_MS);
    },
  };
};
