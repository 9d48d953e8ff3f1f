import { isDeepStrictEqual } from 'node:util';
import { compareVersions, type EventRecorder, ifFound, type KubeClient, type Store } from '../kube/index.ts';
import {
  createLedger,
  type Decision,
  decide,
  type ImageRequests,
  type NodeInfo,
  type OutsideHold,
} from '../rollout/index.ts';
import { anySignal, type Env } from '../runtime/index.ts';
import { createAnnouncer } from './announcer.ts';
import { createDecisionExecutor } from './decision-executor.ts';
import { createEventHandlers } from './event-handlers.ts';
import { createImageRequester } from './image-requester.ts';
import { createImageRequestTracker } from './image-requests.ts';
import { createKeeper } from './keeper.ts';
import { type DaemonSetObject, type DaemonSetView, toDaemonSetRef } from './kind.ts';
import type { ManagedKind, Target } from './kind-adapter.ts';
import type { ControllerMetrics } from './observer.ts';
import { createPodControl, POD_WRITE_TIMEOUT_MS } from './pod-control.ts';
import { createPodUpdates } from './pod-updates.ts';
import type { RevisionView } from './revisions.ts';
import { createRolloutEvents } from './rollout-events.ts';
import { createRolloutObject, RolloutObjectError } from './rollout-object.ts';
import { createStatusWriter } from './status-writer.ts';

/** How long acts in the air may take to be answered when we lead no more: well within what a lease leaves. */
const LAST_ANSWERS_MS = 500;
/** While the API server is not heard of, or a watch is behind, how often to look whether it is: bookmarks wake nobody. */
const LOOK_AGAIN_MS = 1_000;
/** The garbage collector is given this long before people are told that an object is in the way. */
const COLLECTED_WITHIN_MS = 30_000;
const COLLECTED_LOOK_MS = 5_000;

export interface ReconcilerOptions<D extends DaemonSetObject, V extends DaemonSetView, P> {
  kind: ManagedKind<D, V, P>;
  client: KubeClient;
  env: Env;
  events: EventRecorder;
  identity: string;
  view: V;
  nodes: Store<NodeInfo>;
  /** The caches that all DaemonSets share hold a consistent view. */
  sharedSynced: () => boolean;
  /** The API server has been heard of on every shared watch lately. */
  inTouch: () => boolean;
  /** The revisions that a DaemonSet owns, as watched. */
  revisionsOf: (ownerUid: string) => readonly RevisionView[];
  /** Asks for a reconcile at once. */
  enqueue: () => void;
  /** Who pulls images ahead; undefined: nobody. */
  images: ImageRequests | undefined;
  /** Images are pulled ahead also where nobody says so. */
  pullsByDefault: boolean;
  /** An agent is on the node that pulls. */
  pulls: (node: string) => boolean;
  metrics: ControllerMetrics;
}

/** One DaemonSet that is served: its pods' cache, its ledger, and the loop that carries decisions out. */
export const createReconciler = <D extends DaemonSetObject, V extends DaemonSetView, P>(
  options: ReconcilerOptions<D, V, P>,
) => {
  const { kind, client, nodes, enqueue, metrics, identity } = options;
  const { namespace, name, uid } = options.view;
  const env = { ...options.env, log: options.env.log.with({ namespace, name }) };
  const { clock, log } = env;
  let view = options.view;

  const ledger = createLedger(view.policy.policy, { pullsByDefault: options.pullsByDefault });
  const ref = toDaemonSetRef(kind, view);
  const object = createRolloutObject(client, ref);
  const events = createRolloutEvents(options.events, ref);
  const podControl = createPodControl(client, namespace, identity, clock);
  const writer = createStatusWriter({ object, events, clock, metrics });
  const keeper = createKeeper({ object, writer, ledger, clock, identity });
  const imageRequests = createImageRequestTracker({ requests: options.images, view: () => view, ledger });
  const handlers = createEventHandlers({
    client,
    env,
    ledger,
    nodes,
    pulls: options.pulls,
    projection: kind.pods,
    view: () => view,
    changed: enqueue,
    kindHandlers: {
      node: (node) => adapter.eventHandlers?.node(node),
      pod: (kept) => adapter.eventHandlers?.pod(kept),
    },
    listener: imageRequests.handler,
  });
  const adapter = kind.createAdapter({
    client,
    env,
    identity,
    view: () => view,
    ledger,
    nodes,
    pods: handlers.pods,
    revisions: () => options.revisionsOf(uid),
    podControl,
    events,
    metrics,
    enqueue: enqueue,
  });
  const podUpdates = createPodUpdates({ env, ledger, acts: adapter.podWrites, events, metrics, ended: enqueue });
  const announcer = createAnnouncer({ env, ledger, acts: podControl, events, metrics, ended: enqueue });
  const imageRequester = createImageRequester({ env, ledger, acts: podControl, events, ended: enqueue });
  const executor = createDecisionExecutor({
    client,
    clock,
    ledger,
    keeper,
    podUpdates,
    announcer,
    imageRequester,
    events,
    adapter,
  });

  const closed = new AbortController();
  let term: { leading: AbortSignal; signal: AbortSignal } | undefined;
  let firstSight = true;
  let inTouch = true;
  /** In this term: what the DaemonSet was when it began, which the watch has to have delivered. */
  let asOf: { resourceVersion: string } | undefined;
  /** Since when an object of another DaemonSet is in the way. */
  let inTheWaySince: number | undefined;

  const synced = (): boolean => options.sharedSynced() && handlers.synced();

  const untilClosed = (leading: AbortSignal): AbortSignal => {
    if (term?.leading !== leading) term = { leading, signal: anySignal(leading, closed.signal) };
    return term.signal;
  };

  const outsideHold = (target: Target): OutsideHold | undefined => {
    if (!inTouch) return { kind: 'unsynced' };
    if (view.policy.kind === 'invalid') return { kind: 'invalid', errors: view.policy.errors };
    if (target.kind === 'held') return target.hold;
    return executor.awaitsWatch() ? { kind: 'unobserved' } : undefined;
  };

  const noteTouch = (): void => {
    const before = inTouch;
    inTouch = options.inTouch();
    if (before && !inTouch) log.warn('the API server has not been heard of on a watch for long: nothing is acted on');
    if (!before && inTouch) log.info('the API server is heard of again on every watch');
  };

  /** An object of an earlier DaemonSet is waited for: its removal wakes us. Undefined: the object is ours. */
  const takeOver = async (signal: AbortSignal): Promise<{ requeueAt: number } | undefined> => {
    try {
      await keeper.takeOver(signal);
      inTheWaySince = undefined;
      return undefined;
    } catch (error) {
      if (!(error instanceof RolloutObjectError) || error.code !== 'NotOurs') throw error;
      const now = clock.now();
      inTheWaySince = Math.min(inTheWaySince ?? now, now);
      if (now - inTheWaySince >= COLLECTED_WITHIN_MS) events.rolloutNotOurs();
      return { requeueAt: now + COLLECTED_LOOK_MS };
    }
  };

  /**
   * Whoever led before may have gone on from what this process, asleep or cut off, has not heard of: a template, a budget,
   * a pause. Acts are refused on pods that have changed since; that the DaemonSet has, nobody would say.
   */
  const isBehind = async (signal: AbortSignal): Promise<boolean> => {
    if (!asOf) {
      const daemonSet = await ifFound(client.get(kind.resource, { namespace, name }, { signal }));
      // That it is gone the watch will say.
      if (!daemonSet) return true;
      asOf = { resourceVersion: daemonSet.metadata?.resourceVersion ?? '' };
    }
    return (compareVersions(view.resourceVersion, asOf.resourceVersion) ?? 0) < 0;
  };

  const writeWhenDue = async (decision: Decision, seen: V, signal: AbortSignal): Promise<number> => {
    if (!ledger.state.target && decision.summary.hold?.kind !== 'invalid' && seen.policy.kind !== 'invalid')
      return Number.POSITIVE_INFINITY;
    const dueAt = keeper.dueAt();
    if (dueAt > clock.now()) return dueAt;
    await keeper.write(decision, seen, signal);
    return Number.POSITIVE_INFINITY;
  };

  const stop = async (actsGraceMs: number, announcementsGraceMs: number): Promise<void> => {
    await Promise.all([
      podUpdates.stop(actsGraceMs),
      announcer.stop(announcementsGraceMs),
      imageRequester.stop(actsGraceMs),
      adapter.drain?.(actsGraceMs),
    ]);
  };

  return {
    key: `${namespace}/${name}`,
    uid,
    ledger,
    setNode: handlers.setNode,
    removeNode: (node: string): void => handlers.removeNode(node),
    synced,
    /** Fills and keeps the cache of pods until the signal aborts or the session is closed. */
    run: (signal: AbortSignal): Promise<void> => handlers.run(anySignal(signal, closed.signal)),

    update(next: V): void {
      const before = view;
      view = next;
      executor.delivered(next);
      for (const warning of next.policy.warnings) events.policyWarning(warning);
      const policyChanged = !isDeepStrictEqual(before.policy, next.policy);
      if (policyChanged) ledger.setPolicy(next.policy.policy, clock.now());
      if (policyChanged || before.generation !== next.generation) handlers.setAllNodes();
      if (policyChanged) imageRequests.refresh();
      enqueue();
    },

    /** The DaemonRollout is gone, says the watch. */
    rolloutDeleted(): void {
      keeper.objectGone();
      enqueue();
    },

    /** One pass: decide, carry out, write; until nothing is left to do now. Only the leader calls it. */
    async reconcile(leading: AbortSignal): Promise<{ requeueAt?: number }> {
      const signal = untilClosed(leading);
      signal.throwIfAborted();
      if (!synced()) return {};
      if (firstSight) {
        firstSight = false;
        ledger.finishInitialSync();
        for (const warning of view.policy.warnings) events.policyWarning(warning);
      }
      noteTouch();
      const departAt = inTouch ? await adapter.finalize?.(view, signal) : undefined;
      if (departAt !== undefined) return departAt < Number.POSITIVE_INFINITY ? { requeueAt: departAt } : {};
      let claimed = false;
      for (;;) {
        const inTheWay = await takeOver(signal);
        if (inTheWay) return inTheWay;
        if (await isBehind(signal)) return { requeueAt: clock.now() + LOOK_AGAIN_MS };
        const seen = view;
        const target = await adapter.findTarget(seen, signal);
        signal.throwIfAborted();
        // Something else was imageRequests for while we read: nothing is begun for what was imageRequests before.
        if (view !== seen) continue;
        const now = clock.now();
        if (target.kind === 'known') ledger.setTarget(target.revision, now);
        noteTouch();
        ledger.tick(now);
        imageRequests.review();
        const decision = decide(ledger, outsideHold(target), now);
        const mustClaim = !claimed && !keeper.claims && decision.actions.some(({ type }) => type === 'announce');
        if (keeper.unwritten || mustClaim) {
          claimed = true;
          await keeper.write(decision, seen, signal);
          continue;
        }
        if (await executor.carryOut(decision, seen, signal)) continue;
        const maintainAt = inTouch ? await adapter.manage?.({ view: seen, decision, signal }) : undefined;
        const requeueAt = Math.min(
          decision.wakeAt,
          executor.nextTryAt(decision),
          maintainAt ?? Number.POSITIVE_INFINITY,
          await writeWhenDue(decision, seen, signal),
          target.kind === 'held' ? target.recheckAt : Number.POSITIVE_INFINITY,
          inTouch ? Number.POSITIVE_INFINITY : now + LOOK_AGAIN_MS,
        );
        return requeueAt < Number.POSITIVE_INFINITY ? { requeueAt } : {};
      }
    },

    /** We lead no more, and others may write the object from here on. Resolves when nothing of ours is in the air. */
    async stopLeading(): Promise<void> {
      await stop(LAST_ANSWERS_MS, LAST_ANSWERS_MS);
      keeper.letGo();
      asOf = undefined;
    },

    /**
     * The DaemonSet is not ours any more: nothing is sent from here on. Resolves when nothing is in the air; the answers
     * to announcements are waited for, since they are to be taken back.
     */
    async close(): Promise<void> {
      closed.abort(new Error('the DaemonSet is not managed any more'));
      imageRequests.close();
      await stop(0, POD_WRITE_TIMEOUT_MS);
    },
  };
};
export type Reconciler<V extends DaemonSetView> = ReturnType<typeof createReconciler<DaemonSetObject, V, unknown>>;
