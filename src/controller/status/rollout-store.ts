import { isDeepStrictEqual } from 'node:util';
import { isKubeError, type KubeClient } from '../../kube/index.ts';
import {
  type Decision,
  isCarriedOut,
  type Ledger,
  type NodeUpdate,
  reportedError,
  restore,
  statusOf,
  statusOnError,
  type WrittenStatus,
} from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import type { DaemonRolloutStatus } from '../../words/index.ts';
import type { Outbox } from '../events/outbox.ts';
import type { RolloutEvents } from '../events/rollout-events.ts';
import { rolloutStory } from '../events/rollout-story.ts';
import type { DaemonSetRef, DaemonSetView } from '../kind.ts';
import type { ControllerMetrics } from '../kind-adapter.ts';
import { createRolloutObject, RolloutObjectError, saysManaged } from './daemon-rollout.ts';
import { createStatusPace, isMoving } from './status-pace.ts';

/** The garbage collector gets this long before an Event reports an object that is in the way. */
const COLLECTION_TIMEOUT_MS = 30_000;
const COLLECTION_CHECK_MS = 5_000;

export interface RolloutStoreOptions {
  client: KubeClient;
  daemonSet: DaemonSetRef;
  ledger: Ledger;
  events: RolloutEvents;
  /** Absent: nobody outside of the cluster is told. */
  outbox?: Outbox | undefined;
  metrics: ControllerMetrics;
  env: Pick<Env, 'clock' | 'log'>;
  /** Of this process, unique among all that may ever lead. */
  identity: string;
}

/**
 * Keeps the ledger and the DaemonRollout consistent: nothing is executed before its reservation is written, and what is
 * written is in the ledger.
 */
export interface RolloutStore {
  /** Reservations must be written before anything is executed. */
  readonly unwritten: boolean;
  /**
   * The DaemonRollout says that the DaemonSet is managed: if that ends while no manager runs, the next one takes back
   * what was written to pods.
   */
  readonly saysManaged: boolean;
  /**
   * Brings the ledger to what the DaemonRollout says, unless the ledger is newer. Undefined: it is ours; otherwise when to
   * look again, since one of an earlier DaemonSet wakes us when it is removed.
   */
  load(signal: AbortSignal): Promise<number | undefined>;
  /** Reserves the slot of a node in the ledger: it must be written next. */
  reserve(node: string, update: NodeUpdate, now: number): void;
  /** What changed in the ledger must be written before anything is begun because of it. */
  mustWrite(): void;
  /** Writes the status, with the slots that were reserved. After a failure, everything is read again. */
  write(decision: Decision, view: DaemonSetView, signal: AbortSignal, status?: WrittenStatus): Promise<void>;
  /**
   * Says that something about the DaemonSet cannot be computed, unless the object says so already. Everything is read again
   * before anything else.
   */
  writeError(what: string, signal: AbortSignal): Promise<void>;
  /** Writes a status that only informs, if it is time. Returns when it is time otherwise, epoch ms; else Infinity. */
  writeWhenDue(decision: Decision, view: DaemonSetView, signal: AbortSignal): Promise<number>;
  /**
   * Has what the object says sent that is still to be sent. Returns when there may be more without a change, epoch ms;
   * Infinity for never.
   */
  notify(signal: AbortSignal): number;
  /** The watch says that the object is gone: it is read, or created, before anything else. */
  forget(): void;
  /** Another leader may write the object from here on. */
  release(): void;
}

export const createRolloutStore = (options: RolloutStoreOptions): RolloutStore => {
  const { client, daemonSet, ledger, events, outbox, metrics, identity } = options;
  const { clock, log } = options.env;
  const object = createRolloutObject(client, daemonSet);
  const pace = createStatusPace(clock);
  /** The ledger holds what the DaemonRollout said, and everything that happened since. */
  let authoritative = false;
  /** The DaemonRollout lacks reservations of the ledger. */
  let unwritten = false;
  /** What we wrote. The API server may return it in another form, for example without a field that its CRD lacks. */
  let sent: { status: DaemonRolloutStatus; version: string | undefined } | undefined;
  /** The status that Events and the log have described, which outlives a reload of the object. */
  let described: DaemonRolloutStatus | undefined;
  /** Since when a DaemonRollout of another DaemonSet has been in the way. */
  let blockedSince: number | undefined;

  const statusBefore = (): DaemonRolloutStatus | undefined =>
    sent && sent.version === object.version ? sent.status : object.status;

  const buildStatus = (decision: Decision, view: DaemonSetView): WrittenStatus => {
    const { policy, generation: daemonSetGeneration } = view;
    const { status: previous, generation } = object;
    // Only with reservations does the writer matter: a restart at rest must not write.
    const leader = unwritten ? identity : previous?.leader;
    const policyHash = policy.kind === 'on' ? policy.hash : '';
    const input = {
      ledger,
      decision,
      generation,
      daemonSetGeneration,
      policyHash,
      previous,
      daemonSet,
      now: clock.now(),
    };
    const status = statusOf(input);
    // What an object said that somebody deleted has been told.
    const notifications = outbox?.next(statusBefore() ?? described, status);
    return { ...status, ...(leader !== undefined && { leader }), ...(notifications && { notifications }) };
  };

  const store: RolloutStore = {
    get unwritten() {
      return unwritten;
    },
    get saysManaged() {
      return saysManaged(object.status);
    },

    async load(signal) {
      if (object.loaded) return undefined;
      let saved: DaemonRolloutStatus | undefined;
      try {
        saved = await object.load({ signal });
        blockedSince = undefined;
      } catch (error) {
        if (!(error instanceof RolloutObjectError) || error.code !== 'NotOurs') throw error;
        const now = clock.now();
        blockedSince = Math.min(blockedSince ?? now, now);
        if (now - blockedSince >= COLLECTION_TIMEOUT_MS) events.rolloutNotOurs();
        return now + COLLECTION_CHECK_MS;
      }
      if (authoritative && saved === undefined) {
        // The object was deleted, or never written: the ledger is the truth.
        unwritten = true;
        return undefined;
      }
      // What the next write pushes out of a full list is given up by the one who has it.
      outbox?.send(saved, signal);
      const { state, updates, forgiven } = restore(saved);
      ledger.restore(state, updates, forgiven, clock.now());
      authoritative = true;
      // Updates that another process left open are ours once our name is on the object. Until then, that process may
      // take one back, with the version that it still holds, and give the slot to another node.
      unwritten = saved?.leader !== identity && ![...updates.values()].every(isCarriedOut);
      return undefined;
    },

    reserve(node, update, now) {
      ledger.reserve(node, update, now);
      unwritten = true;
    },

    mustWrite() {
      unwritten = true;
    },

    async write(decision, view, signal, status = buildStatus(decision, view)) {
      const before = statusBefore();
      try {
        await object.write(status, { signal });
      } catch (error) {
        if (unwritten) metrics.reserved?.('failed');
        const refused = isKubeError(error) && error.happened === 'no' && !isKubeError(error, 'Conflict', 'NotFound');
        if (!refused) object.forget();
        throw error;
      }
      sent = { status, version: object.version };
      if (unwritten) {
        pace.current();
        metrics.reserved?.('written');
        unwritten = false;
      } else pace.written(isMoving(ledger, decision));
      metrics.statusWritten?.();
      events.statusWritten(described ?? before, status);
      for (const { msg, fields } of rolloutStory(described ?? before, status)) log.info(msg, fields);
      described = status;
    },

    async writeError(what, signal) {
      try {
        if (!object.loaded) await object.load({ signal });
        const { status: previous, generation } = object;
        const status = statusOnError(what, { generation, previous, now: clock.now() });
        if (isDeepStrictEqual(previous, status)) return;
        await object.write(status, { signal });
        metrics.statusWritten?.();
        const isKnown = isDeepStrictEqual(reportedError(previous?.conditions), reportedError(status.conditions));
        if (!isKnown) events.internalError(status.conditions?.[0]?.message ?? what);
      } finally {
        object.forget();
      }
    },

    async writeWhenDue(decision, view, signal) {
      const invalid = decision.summary.hold?.kind === 'invalid' || view.policy.kind === 'invalid';
      if (!ledger.state.target && !invalid) return Number.POSITIVE_INFINITY;
      const moving = isMoving(ledger, decision);
      const dueAt = pace.dueAt(moving);
      if (dueAt > clock.now()) return dueAt;
      const status = buildStatus(decision, view);
      if (isDeepStrictEqual(statusBefore(), status)) {
        // To build it takes the longer the more updates are in flight.
        if (moving) pace.current();
        return Number.POSITIVE_INFINITY;
      }
      await store.write(decision, view, signal, status);
      return Number.POSITIVE_INFINITY;
    },

    notify: (signal) => outbox?.send(statusBefore(), signal) ?? Number.POSITIVE_INFINITY,

    forget: () => object.forget(),

    release() {
      object.forget();
      outbox?.clear();
      described = undefined;
      authoritative = false;
      unwritten = false;
    },
  };
  return store;
};
