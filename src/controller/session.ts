import { isDeepStrictEqual } from 'node:util';
import { compareVersions, type EventRecorder, ifFound, type KubeClient, type Store } from '../kube/index.ts';
import {
  createLedger,
  type Decision,
  decide,
  type ImageRequests,
  type NodeView,
  type OutsideHold,
} from '../rollout/index.ts';
import { type Env, eitherSignal } from '../runtime/index.ts';
import { createActor } from './actor.ts';
import { createAnnouncer } from './announcer.ts';
import { createAskedImages } from './asked-images.ts';
import { createFeed } from './feed.ts';
import { createImageAsker } from './image-asker.ts';
import { createKeeper } from './keeper.ts';
import { type DaemonSetObject, type DaemonSetView, refOf } from './kind.ts';
import type { ServedKind, Target } from './means.ts';
import type { ControllerObserver } from './observer.ts';
import { ACT_TIMEOUT_MS, createPodActs } from './pod-acts.ts';
import { createPursuit } from './pursuit.ts';
import type { RevisionView } from './revision-view.ts';
import { createRolloutObject, RolloutObjectError } from './rollout-object.ts';
import { createStatusWriter } from './status-writer.ts';
import { createTeller } from './tell.ts';

/** How long acts in the air may take to be answered when we lead no more: well within what a lease leaves. */
const LAST_ANSWERS_MS = 500;
/** While the API server is not heard of, or a watch is behind, how often to look whether it is: bookmarks wake nobody. */
const LOOK_AGAIN_MS = 1_000;
/** The garbage collector is given this long before people are told that an object is in the way. */
const COLLECTED_WITHIN_MS = 30_000;
const COLLECTED_LOOK_MS = 5_000;

export interface SessionOptions<D extends DaemonSetObject, V extends DaemonSetView, P> {
  kind: ServedKind<D, V, P>;
  client: KubeClient;
  env: Env;
  events: EventRecorder;
  identity: string;
  view: V;
  nodes: Store<NodeView>;
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
  observe: ControllerObserver;
}

/** One DaemonSet that is served: its pods' cache, its ledger, and the loop that carries decisions out. */
export const createSession = <D extends DaemonSetObject, V extends DaemonSetView, P>(
  options: SessionOptions<D, V, P>,
) => {
  const { kind, client, nodes, enqueue, observe, identity } = options;
  const { namespace, name, uid } = options.view;
  const env = { ...options.env, log: options.env.log.with({ namespace, name }) };
  const { clock, log } = env;
  let view = options.view;

  const ledger = createLedger(view.policy.policy, { pullsByDefault: options.pullsByDefault });
  const ref = refOf(kind, view);
  const object = createRolloutObject(client, ref);
  const teller = createTeller(options.events, ref);
  const podActs = createPodActs(client, namespace, identity, clock);
  const writer = createStatusWriter({ object, teller, clock, observe });
  const keeper = createKeeper({ object, writer, ledger, clock, identity });
  const asked = createAskedImages({ requests: options.images, view: () => view, ledger });
  const feed = createFeed({
    client,
    env,
    ledger,
    nodes,
    pulls: options.pulls,
    projection: kind.pods,
    view: () => view,
    changed: enqueue,
    touched: {
      node: (node) => means.touched?.node(node),
      pod: (kept) => means.touched?.pod(kept),
    },
    listener: asked.handler,
  });
  const means = kind.open({
    client,
    env,
    identity,
    view: () => view,
    ledger,
    nodes,
    pods: feed.pods,
    revisions: () => options.revisionsOf(uid),
    podActs,
    teller,
    observe,
    wake: enqueue,
  });
  const actor = createActor({ env, ledger, acts: means.acts, teller, observe, ended: enqueue });
  const announcer = createAnnouncer({ env, ledger, acts: podActs, teller, observe, ended: enqueue });
  const asker = createImageAsker({ env, ledger, acts: podActs, teller, ended: enqueue });
  const pursuit = createPursuit({ client, clock, ledger, keeper, actor, announcer, asker, teller, means });

  const closed = new AbortController();
  let term: { leading: AbortSignal; signal: AbortSignal } | undefined;
  let firstSight = true;
  let inTouch = true;
  /** In this term: what the DaemonSet was when it began, which the watch has to have delivered. */
  let asOf: { resourceVersion: string } | undefined;
  /** Since when an object of another DaemonSet is in the way. */
  let inTheWaySince: number | undefined;

  const synced = (): boolean => options.sharedSynced() && feed.synced();

  const untilClosed = (leading: AbortSignal): AbortSignal => {
    if (term?.leading !== leading) term = { leading, signal: eitherSignal(leading, closed.signal) };
    return term.signal;
  };

  const outsideHold = (target: Target): OutsideHold | undefined => {
    if (!inTouch) return { kind: 'unsynced' };
    if (view.policy.kind === 'invalid') return { kind: 'invalid', errors: view.policy.errors };
    if (target.kind === 'held') return target.hold;
    return pursuit.awaitsWatch() ? { kind: 'unobserved' } : undefined;
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
      if (now - inTheWaySince >= COLLECTED_WITHIN_MS) teller.notOurs();
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
      actor.stop(actsGraceMs),
      announcer.stop(announcementsGraceMs),
      asker.stop(actsGraceMs),
      means.stop?.(actsGraceMs),
    ]);
  };

  return {
    key: `${namespace}/${name}`,
    uid,
    ledger,
    setNode: feed.setNode,
    removeNode: (node: string): void => feed.removeNode(node),
    synced,
    /** Fills and keeps the cache of pods until the signal aborts or the session is closed. */
    run: (signal: AbortSignal): Promise<void> => feed.run(eitherSignal(signal, closed.signal)),

    update(next: V): void {
      const before = view;
      view = next;
      pursuit.delivered(next);
      for (const warning of next.policy.warnings) teller.warning(warning);
      const policyChanged = !isDeepStrictEqual(before.policy, next.policy);
      if (policyChanged) ledger.setPolicy(next.policy.policy, clock.now());
      if (policyChanged || before.generation !== next.generation) feed.setAllNodes();
      if (policyChanged) asked.refresh();
      enqueue();
    },

    /** The DaemonRollout is gone, says the watch. */
    objectGone(): void {
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
        ledger.firstSightOver();
        for (const warning of view.policy.warnings) teller.warning(warning);
      }
      noteTouch();
      const departAt = inTouch ? await means.depart?.(view, signal) : undefined;
      if (departAt !== undefined) return departAt < Number.POSITIVE_INFINITY ? { requeueAt: departAt } : {};
      let claimed = false;
      for (;;) {
        const inTheWay = await takeOver(signal);
        if (inTheWay) return inTheWay;
        if (await isBehind(signal)) return { requeueAt: clock.now() + LOOK_AGAIN_MS };
        const seen = view;
        const target = await means.findTarget(seen, signal);
        signal.throwIfAborted();
        // Something else was asked for while we read: nothing is begun for what was asked before.
        if (view !== seen) continue;
        const now = clock.now();
        if (target.kind === 'known') ledger.setTarget(target.revision, now);
        noteTouch();
        ledger.tick(now);
        asked.review();
        const decision = decide(ledger, outsideHold(target), now);
        const mustClaim = !claimed && !keeper.claims && decision.actions.some(({ type }) => type === 'announce');
        if (keeper.unwritten || mustClaim) {
          claimed = true;
          await keeper.write(decision, seen, signal);
          continue;
        }
        if (await pursuit.carryOut(decision, seen, signal)) continue;
        const maintainAt = inTouch ? await means.maintain?.({ view: seen, decision, signal }) : undefined;
        const requeueAt = Math.min(
          decision.wakeAt,
          pursuit.nextTryAt(decision),
          maintainAt ?? Number.POSITIVE_INFINITY,
          await writeWhenDue(decision, seen, signal),
          target.kind === 'held' ? target.lookAgainAt : Number.POSITIVE_INFINITY,
          inTouch ? Number.POSITIVE_INFINITY : now + LOOK_AGAIN_MS,
        );
        return requeueAt < Number.POSITIVE_INFINITY ? { requeueAt } : {};
      }
    },

    /** We lead no more, and others may write the object from here on. Resolves when nothing of ours is in the air. */
    async standDown(): Promise<void> {
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
      asked.close();
      await stop(0, ACT_TIMEOUT_MS);
    },
  };
};
export type Session<V extends DaemonSetView> = ReturnType<typeof createSession<DaemonSetObject, V, unknown>>;
