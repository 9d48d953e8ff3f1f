import { ifFound, isKubeError } from '../../kube/index.ts';
import { type Approval, type Decision, type NodeInfo, type OutsideHold, type Summary, createLedger, decide, hasUnusableName } from '../../rollout/index.ts';
import { anySignal } from '../../runtime/index.ts';
import { createOutbox } from '../events/outbox.ts';
import { createRolloutEvents } from '../events/rollout-events.ts';
import { InternalError, createFailureGuard } from '../internal-error.ts';
import type { Target } from '../kind-adapter.ts';
import { type DaemonSetObject, type DaemonSetView, type RevisionView, seeNodesAlike, toDaemonSetRef } from '../kind.ts';
import { RolloutObjectError } from '../status/daemon-rollout.ts';
import { createRolloutLoader } from '../status/load-rollout.ts';
import { createRolloutStore } from '../status/rollout-store.ts';
import { createEventHandlers } from '../watches/event-handlers.ts';
import { createImageRequestTracker } from '../watches/image-requests.ts';
import { createRefusals } from '../watches/refusals.ts';
import { createTermStart } from '../watches/term-start.ts';
import { createDecisionExecutor } from '../writes/decision-executor.ts';
import { POD_WRITE_TIMEOUT_MS, createPodControl } from '../writes/pod-control.ts';
import { stopManaging } from '../writes/stop-managing.ts';
import { unreadablePlan } from './daemonset-plans.ts';
import type { OrderMember } from './order.ts';
import { NEVER, type ReconcileResult, type ReconcilerOptions, requeueAt } from './reconciler-options.ts';
import { createStageChecks } from './stage-checks.ts';
import { isDeepStrictEqual } from 'node:util';

/** How long writes in flight may take once leadership is lost: well within what the lease leaves. */
const DRAIN_MS = 500;
/**
 * How often to check a connection that is lost, or a watch that is behind: bookmarks trigger no reconcile, and an update has
 * to begin within a second of the one that ends the wait.
 */
const RECHECK_MS = 500;
/** The plans of the cluster should be known by then. */
const PLANS_TIMEOUT_MS = 15_000;

const noTarget: Target = { kind: 'held', hold: { kind: 'unobserved' }, recheckAt: NEVER };

/** Manages one DaemonSet: the cache of its pods, its ledger, and the loop that decides and executes. */
export const createReconciler = <D extends DaemonSetObject, V extends DaemonSetView, P>(
  options: ReconcilerOptions<D, V, P>,
) => {
  const { kind, client, nodes, enqueue, metrics, identity } = options;
  const { namespace, name, uid } = options.view;
  const env = { ...options.env, log: options.env.log.with({ namespace, name }) };
  const { clock, log } = env;
  let current = options.view;
  const view = (): V => current;

  const failures = createFailureGuard({
    log,
    onFailed() {
      stageChecks?.stop();
      options.order.rolloutChanged(member);
      enqueue();
    },
    retry: () => enqueue('retry'),
  });
  const { fail, guard } = failures;

  const ledger = createLedger(current.policy.policy, {
    pullsByDefault: options.pullsByDefault,
    ...(options.aheadMs && { aheadMs: options.aheadMs }),
    onOrderChanged: (node) => options.order.nodeChanged(member, node),
    onFailed: (error) => fail('the state of its nodes', error),
    onUpdateCompleted: (ms) => metrics.nodeUpdated?.({ namespace, name }, ms / 1000),
  });
  const daemonSet = toDaemonSetRef(kind, current);
  const events = createRolloutEvents(options.events, daemonSet);
  const podControl = createPodControl(client, namespace, identity, clock);
  const outbox = options.notifier && createOutbox({ notifier: options.notifier, daemonSet, clock, onSettled: enqueue });
  const store = createRolloutStore({
    client,
    daemonSet,
    ledger,
    isPlacing: () => adapter.isPlacing?.() ?? false,
    events,
    outbox,
    metrics,
    clock,
    identity,
  });
  const loadRollout = createRolloutLoader(store, events, clock);
  const imageRequests = createImageRequestTracker({ requests: options.images, view, ledger });
  const handlers = createEventHandlers({
    client,
    env,
    ledger,
    nodes,
    hasImageAgent: options.hasImageAgent,
    view,
    projection: kind.pods,
    imageRequests,
    kindHandlers: {
      node: (node) => adapter.eventHandlers?.node(node),
      pod: (kept) => adapter.eventHandlers?.pod(kept) ?? false,
    },
    enqueue,
    failuresChanged: () => failuresChanged(),
    guard,
  });
  const { pods } = handlers;
  const revisions = (): readonly RevisionView[] => options.revisionsOf(uid);
  const read = async (signal: AbortSignal): Promise<D | undefined> =>
    ifFound(client.get(kind.resource, { namespace, name }, { signal }));
  const refusals = createRefusals({
    view,
    async read(signal) {
      const found = await read(signal);
      return found?.metadata?.uid === uid ? kind.toView(found) : undefined;
    },
    awaits: options.relistIfPast,
  });
  const termStart = createTermStart({ read, delivered: () => current.resourceVersion, awaits: options.relistIfPast });
  const own = { client, env, identity, view, ledger, nodes, pods, revisions, podControl, events, metrics, enqueue };
  const context = { ...own, refused: refusals.refused };
  const adapter = kind.createAdapter(context);
  const executor = createDecisionExecutor({ ...context, store, adapter, onWriteDone: enqueue });

  /** What is known of the DaemonSet may not be all: whatever is decided by that could be wrong. */
  const internalError = (): InternalError | undefined =>
    failures.failure() ?? handlers.failure() ?? options.sharedFailure();

  const failuresChanged = (): void => {
    options.order.rolloutChanged(member);
    enqueue('retry');
  };

  const member: OrderMember = {
    apiGroup: kind.resource.group,
    namespace,
    name,
    ledger: {
      get policy() {
        return ledger.policy;
      },
      get: ledger.get,
      records: ledger.records,
      setWaitsFor: (node, first, now) => guard(`Node ${node}`, () => ledger.setWaitsFor(node, first, now)),
    },
    isCurrent: () => decidedGeneration === current.generation,
    isComplete: () => summary?.complete ?? false,
    isUnknown: () => internalError() !== undefined,
    changed: enqueue,
  };
  const stageChecks =
    options.checks && createStageChecks({ ...options.checks, daemonSet, ledger, view, clock, changed: enqueue });
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

  const leaveOrder = options.order.join(member);
  options.order.planChanged(member);

  const synced = (): boolean => options.sharedSynced() && handlers.synced();

  const untilClosed = (leading: AbortSignal): AbortSignal => {
    if (term?.leading !== leading) term = { leading, signal: anySignal(leading, closed.signal) };
    return term.signal;
  };

  const outsideHold = (target: Target, isOutdated: boolean): OutsideHold | undefined => {
    if (!connected) return { kind: 'unsynced' };
    if (plansNeeded() === 'missing') return plansMissing();
    plansMissedSince = undefined;
    if (plansNeeded() === 'stale') return { kind: 'unsynced' };
    if (current.policy.kind === 'invalid') return { kind: 'invalid', errors: current.policy.errors };
    if (target.kind === 'held') return target.hold;
    return isOutdated || executor.awaitsWatch() ? { kind: 'unobserved' } : undefined;
  };

  const plansNeeded = () => (current.policy.policy.rolloutPlan === undefined ? 'known' : options.plans());

  /** Before the first list; if it lasts, there is something to mend. */
  const plansMissing = (): OutsideHold => {
    const now = clock.now();
    plansMissedSince = Math.min(plansMissedSince ?? now, now);
    if (now - plansMissedSince < PLANS_TIMEOUT_MS) return { kind: 'unsynced' };
    return unreadablePlan(current);
  };

  const checkConnection = (): void => {
    const before = connected;
    connected = options.isConnected();
    if (before && !connected)
      log.warn('a watch has received nothing from the API server for too long: no updates until it does');
    if (!before && connected) log.info('every watch receives from the API server again');
  };

  const decideNow = (target: Target, isOutdated: boolean, { generation }: V): Decision => {
    const now = clock.now();
    ledger.tick(now);
    imageRequests.refreshIfChanged();
    const decision = decide(ledger, outsideHold(target, isOutdated), now, adapter.refusal?.());
    const before = { generation: decidedGeneration, complete: summary?.complete };
    ({ summary } = decision);
    if (target.kind === 'known') decidedGeneration = generation;
    if (decidedGeneration !== before.generation || summary.complete !== before.complete)
      options.order.rolloutChanged(member);
    return decision;
  };

  const drain = async (graceMs: number, announcementsGraceMs: number): Promise<void> => {
    await Promise.all([executor.drain(graceMs, announcementsGraceMs), adapter.drain?.(graceMs)]);
  };

  /** Says what cannot be computed, as far as the API server lets us. */
  const reportError = async ({ message }: InternalError, signal: AbortSignal): Promise<void> => {
    adapter.reportError(current, message);
    try {
      await store.writeError(message, signal);
    } catch (error) {
      if (!signal.aborted) log.warn('failed to report an internal error', { error });
    }
  };

  const reconcile = async (signal: AbortSignal): Promise<ReconcileResult> => {
    checkConnection();
    let announced = false;
    for (;;) {
      const seen = current;
      const finalizeAt = connected ? await adapter.finalize?.(seen, signal) : undefined;
      if (finalizeAt !== undefined) {
        // Metrics have to say that it is held.
        if (hasUnusableName(seen.policy)) decideNow(noTarget, false, seen);
        else if (!ended) await stopManaging(client, kind, seen, identity, clock, signal);
        ended = true;
        return requeueAt(finalizeAt);
      }
      const freeAt = await loadRollout(signal);
      if (freeAt !== undefined) return requeueAt(freeAt);
      if (await termStart.isBehind(signal)) return { requeueAt: clock.now() + RECHECK_MS };
      const isOutdated = await refusals.awaitsWatch(signal);
      const target = await adapter.findTarget(seen, signal);
      signal.throwIfAborted();
      // The DaemonSet changed while we read: start nothing for what it asked before, and nothing for one that is being deleted.
      if (current !== seen || (!isOutdated && refusals.mustRead())) continue;
      const now = clock.now();
      if (target.kind === 'known') ledger.setTarget(target.revision, now, seen.origin);
      checkConnection();
      const decision = decideNow(target, isOutdated, seen);
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
      const latest = ledger.changes === changes ? decision : decideNow(target, isOutdated, seen);
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
    /** Of the latest decision; undefined before the first. */
    summary: (): Summary | undefined => summary,
    /** Something about the DaemonSet, with what the caches may lack of it, cannot be computed; undefined: nothing of the kind. */
    internalError,
    /** This reconciler cannot continue, and has said so: close it, and create another one. */
    hasFailed: failures.isReported,
    /** What was to be brought to this reconciler could not be computed. */
    fail,
    /** What the caches lack has changed. */
    failuresChanged,
    setNode: (node: NodeInfo, previous?: NodeInfo): void =>
      guard(`Node ${node.name}`, () => {
        handlers.setNode(node, previous);
        options.order.nodesAdded(member, [node.name]);
      }),
    removeNode: (node: string): void => guard(`Node ${node}`, () => handlers.removeNode(node)),
    synced,
    /** Resolves once its pods are cached; rejects when the signal aborts, or when the reconciler is closed. */
    whenSynced: (signal: AbortSignal): Promise<void> => handlers.whenSynced(anySignal(signal, closed.signal)),
    /** Fills and keeps the cache of pods until the signal aborts or the reconciler is closed. */
    run: (signal: AbortSignal): Promise<void> => handlers.run(anySignal(signal, closed.signal)),

    update: (next: V): void =>
      guard(kind.resource.kind, () => {
        const before = current;
        current = next;
        executor.delivered(next);
        for (const warning of next.policy.warnings) events.policyWarning(warning);
        const policyChanged = !isDeepStrictEqual(before.policy, next.policy);
        if (policyChanged) ledger.setPolicy(next.policy.policy, clock.now());
        if (!seeNodesAlike(before, next)) {
          handlers.setAllNodes();
          options.order.nodesAdded(
            member,
            [...ledger.records()].map((record) => record.name),
          );
        }
        if (policyChanged) imageRequests.refresh();
        if (policyChanged) options.order.planChanged(member);
        if (before.generation !== next.generation) options.order.rolloutChanged(member);
        // Its status changes with every pod.
        enqueue(policyChanged || decidedGeneration !== next.generation ? 'now' : 'soon');
      }),

    /** What people decided about the stages of this DaemonSet. */
    setApprovals: (approvals: readonly Approval[]): void =>
      guard('its RolloutApprovals', () => {
        ledger.setApprovals(approvals);
        enqueue();
      }),

    /** The watch says that the DaemonRollout is gone. */
    rolloutDeleted(): void {
      store.forget();
      enqueue();
    },

    /** Decides, executes and writes, until nothing is left to do now. Only the leader calls it. */
    async reconcile(leading: AbortSignal): Promise<ReconcileResult> {
      const signal = untilClosed(leading);
      signal.throwIfAborted();
      if (!synced() && !failures.failure()) return {};
      try {
        const error = internalError();
        if (error) throw error;
        if (initialSync) {
          initialSync = false;
          ledger.finishInitialSync();
          for (const warning of current.policy.warnings) events.policyWarning(warning);
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

    /** What failed before the term is tried anew, before anybody is told of it. */
    beginTerm: (): void => failures.reported(),

    /** Leadership is lost: another leader may write the DaemonRollout. Resolves when none of our writes is in flight. */
    async stopLeading(): Promise<void> {
      stageChecks?.stop();
      await drain(DRAIN_MS, DRAIN_MS);
      store.release();
      termStart.end();
      decidedGeneration = undefined;
      options.order.rolloutChanged(member);
    },

    /** Not managed any more: sends nothing. Resolves when no write is in flight, or announcement, which must be taken back. */
    async close(): Promise<void> {
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
export type Reconciler<V extends DaemonSetView> = ReturnType<typeof createReconciler<DaemonSetObject, V, unknown>>;
