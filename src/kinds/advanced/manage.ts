import { isMoving, type KindEventHandlers, type ManageInput, type ReconcilerContext } from '../../controller/index.ts';
import { conditionsOf, formatPolicyError, isDeletedTerminal, nodeShouldRunDaemonPod } from '../../rollout/index.ts';
import type { AdvancedView } from './advanced-view.ts';
import { isNameTooLong } from './api/policy.ts';
import { createFinalizer } from './lifecycle/finalizer.ts';
import type { PodCreator } from './placement/create-pods.ts';
import { createDirtyNodes, type Requeue } from './placement/dirty-nodes.ts';
import { createNodeSync } from './placement/sync-nodes.ts';
import type { CachedPod } from './podcontrol/cached-pod.ts';
import { createControllerRefManager } from './podcontrol/controller-ref-manager.ts';
import type { MaintenanceWriter } from './podcontrol/maintenance-writer.ts';
import type { PodOperations } from './podcontrol/pod-operations.ts';
import type { PodSync } from './podcontrol/sync-pod.ts';
import type { PreviousOwners } from './previous-owners.ts';
import type { CurrentRevision } from './revisions/sync-history.ts';
import type { TargetFinder } from './revisions/target.ts';
import { countNode, createStatusCounts } from './status/counts.ts';
import { createStatusWriter, statusOf, statusOnError } from './status/status.ts';

export interface PodManagementOptions extends ReconcilerContext<AdvancedView, CachedPod> {
  finder: TargetFinder;
  operations: PodOperations;
  writer: MaintenanceWriter;
  creator: PodCreator;
  podSync: PodSync;
  previousOwners: Pick<PreviousOwners, 'podObserved'>;
}

const NEVER = Number.POSITIVE_INFINITY;
const noPods: ReadonlySet<string> = new Set();

/** A node that was checked: its pods, whether it needs a pod created or removed, and when to check it again. */
interface CheckedNode {
  name: string;
  pods: readonly CachedPod[];
  requeue: Requeue;
  needsSync: boolean;
  recheckAt: number;
}

export interface PodManagement {
  eventHandlers: KindEventHandlers<CachedPod>;
  manage(input: ManageInput<AdvancedView>): Promise<number>;
  /** Says that something about the DaemonSet cannot be computed. */
  reportError(latest: AdvancedView, what: string): void;
  /**
   * `manage` for a DaemonSet that is being deleted: its pods go through their hook, and nothing else is started. One that can
   * have no DaemonRollout only gets a status.
   */
  finalize(latest: AdvancedView, signal: AbortSignal): Promise<number | undefined>;
  drain(graceMs: number): Promise<void>;
}

/**
 * Everything besides the rollout: creates, removes, adopts and syncs pods, and writes the status. Checks only nodes with an
 * event and nodes that are due; the others enter only through the counts.
 */
export const createPodManagement = (options: PodManagementOptions): PodManagement => {
  const { env, ledger, nodes, events, finder, operations, writer, creator, podSync, previousOwners, enqueue } = options;
  const { clock } = env;
  const dirtyNodes = createDirtyNodes(options);
  const counts = createStatusCounts();
  const status = createStatusWriter(options);
  const nodeSync = createNodeSync({ ...options, dirtyNodes, counts });
  const finalizer = createFinalizer(options);
  const refManager = createControllerRefManager(options);

  const eventHandlers: KindEventHandlers<CachedPod> = {
    node(name) {
      dirtyNodes.addNode(name);
      const node = nodes.get(name);
      const desired = node !== undefined && nodeShouldRunDaemonPod(options.view().needs, node).shouldRun;
      // The taints of an offline node come and go after its readiness, and change nothing in the ledger.
      if (Number(desired) !== counts.of(name).desired) enqueue();
    },
    pod(cached) {
      const { facts, ownership } = cached;
      const present = dirtyNodes.addPod(cached);
      operations.podObserved(cached, present);
      previousOwners.podObserved(cached, present);
      if (!present || isDeletedTerminal(facts)) {
        creator.podGone(cached);
        nodeSync.podGone(cached);
      } else if (ownership === 'ours') creator.expectations.podObserved(cached);
      if (!present) {
        writer.forget(facts.uid);
        refManager.podGone(cached);
        finalizer.podGone(cached);
      }
    },
  };

  const checkNode = (
    view: AdvancedView,
    name: string,
    current: CurrentRevision | undefined,
    now: number,
  ): CheckedNode => {
    const pods = dirtyNodes.podsOn(name);
    const ours = pods.filter((cached) => cached.ownership === 'ours' && !isDeletedTerminal(cached.facts));
    const node = nodes.get(name);
    const facts = ours.map((cached) => cached.facts);
    const readySinceOf = (uid: string): number | undefined =>
      ledger.get(name)?.pods.find((pod) => pod.facts.uid === uid)?.readySince;
    const counted = countNode(view, node, facts, current?.target.hash, readySinceOf, now);
    const checked: CheckedNode = { name, pods, requeue: undefined, needsSync: false, recheckAt: NEVER };
    if (!node && pods.length === 0) {
      counts.set(name, undefined);
      nodeSync.forgetNode(name);
      creator.forgetNode(name);
      return checked;
    }
    const orphans = pods.filter((cached) => cached.ownership === 'orphan' && !cached.facts.terminating);
    const hasOrphan = orphans.length > 0;
    // An orphan that is about to be adopted has reached the current revision for the limits of placement.
    const isCurrent = current && orphans.some((cached) => cached.facts.revision === current.target.hash);
    counts.set(name, isCurrent ? { ...counted.counts, onCurrentRevision: 1 } : counted.counts);
    // The containers of a pod of a previous owner may still run.
    const isOccupied = pods.some(
      (cached) => cached.ownership !== 'ours' && cached.facts.terminating && !isDeletedTerminal(cached.facts),
    );
    const isExpected = creator.expectations.has(name);
    // No event tells that a creation has failed.
    if (!current || hasOrphan || isOccupied || isExpected)
      return { ...checked, requeue: isExpected ? 'next reconcile' : undefined, recheckAt: counted.changesAt };
    const { requeue, recheckAt } = nodeSync.check(view, name, ours, current.target.hash, now);
    const needsSync = requeue !== undefined;
    return { ...checked, requeue, needsSync, recheckAt: Math.min(counted.changesAt, recheckAt) };
  };

  /** `sync` returns when to sync a pod again, epoch ms; undefined: at the next reconcile. */
  const syncPods = (checked: readonly CheckedNode[], sync: (cached: CachedPod) => number | undefined): void => {
    for (const { name, pods, requeue, recheckAt } of checked) {
      const times = pods.map(sync);
      const dueAt = Math.min(recheckAt, ...times.map((at) => at ?? NEVER));
      dirtyNodes.synced(name, dueAt, times.includes(undefined) ? 'next reconcile' : requeue);
    }
  };

  /** When to create pods for vacant nodes, epoch ms. `couldCreate`: they were checked in this reconcile. */
  const createVacantAt = (view: AdvancedView, couldCreate: boolean, now: number): number => {
    if (!dirtyNodes.hasVacantNodes()) return NEVER;
    // A pod observed just now made room for another one.
    if (!couldCreate && nodeSync.mayCreate(view)) return now;
    const nextAttemptAt = creator.nextAttemptAt();
    return nextAttemptAt > now ? nextAttemptAt : NEVER;
  };

  const reportInvalid = (view: AdvancedView): number => {
    const { policy } = view;
    if (policy.kind !== 'invalid') return NEVER;
    const blocked = { reason: 'InvalidPolicy', message: policy.errors.map(formatPolicyError).join(' ') };
    events.warnOnce(blocked.message, blocked.reason, 'Validate', blocked.message);
    const awaited = finalizer.awaitedPods();
    const now = clock.now();
    const next = statusOf({ view, decision: undefined, counts: counts.totals, hash: undefined, blocked, awaited, now });
    return status.update(view, next, false);
  };

  return {
    eventHandlers,
    async manage(input) {
      const { view, decision, signal } = input;
      signal.throwIfAborted();
      const now = clock.now();
      const blocked = finder.blocked();
      const current = blocked ? undefined : finder.current(view);
      const lastRecorded = finder.lastRecorded();
      const hash = current?.target.hash;
      const mayCreate = nodeSync.mayCreate(view);
      const checked = dirtyNodes
        .due({ ...view, hash, blocked: blocked !== undefined }, mayCreate, now)
        .map((name) => checkNode(view, name, current, now));
      const toSync = checked.flatMap(({ name, needsSync }) => (needsSync ? [name] : []));
      const synced = current ? nodeSync.sync(input, current, toSync, now) : { removing: noPods, wakeAt: NEVER };
      syncPods(checked, (cached) => {
        if (blocked)
          return finder.mayReturnPods()
            ? podSync.returnToService(cached, lastRecorded, nodeSync.stays(view, cached))
            : NEVER;
        return podSync.sync(view, cached, current, synced.removing.has(cached.facts.uid), now);
      });
      if (!dirtyNodes.hasVacantNodes() && creator.expectations.inFlight() === 0) creator.noneWanted();
      const releaseAt = blocked ? NEVER : refManager.release(view);
      const finalizerAt = blocked ? NEVER : finalizer.sync(view, true);
      const next = statusOf({
        view,
        decision,
        rollout: conditionsOf(ledger, decision.summary, { ...view, short: 'ads' }),
        counts: counts.totals,
        hash,
        blocked,
        awaited: finalizer.awaitedPods(),
        now,
      });
      return Math.min(
        synced.wakeAt,
        createVacantAt(view, mayCreate, now),
        dirtyNodes.nextDueAt(now),
        releaseAt,
        finalizerAt,
        status.update(view, next, isMoving(ledger, decision)),
      );
    },
    reportError(view, what) {
      status.update(view, statusOnError(view, what, clock.now()), false);
    },
    async finalize(view, signal) {
      if (!view.deleted) return isNameTooLong(view.name) ? reportInvalid(view) : undefined;
      const target = await finder.find(view, signal);
      signal.throwIfAborted();
      const now = clock.now();
      const blocked = finder.blocked();
      const checked = dirtyNodes
        .due({ ...view, hash: undefined, blocked: blocked !== undefined }, true, now)
        .map((name) => checkNode(view, name, undefined, now));
      syncPods(checked, (cached) => (blocked ? NEVER : finalizer.syncPod(view, cached)));
      const finalizerAt = blocked ? NEVER : finalizer.sync(view, creator.expectations.inFlight() === 0);
      const next = statusOf({
        view,
        decision: undefined,
        counts: counts.totals,
        hash: undefined,
        blocked,
        awaited: finalizer.awaitedPods(),
        now,
      });
      const conflictAt = target.kind === 'held' ? target.recheckAt : NEVER;
      return Math.min(dirtyNodes.nextDueAt(now), finalizerAt, status.update(view, next, true), conflictAt);
    },
    async drain(graceMs) {
      const parts = [creator, writer, status, refManager, finalizer];
      await Promise.all(parts.map((part) => part.drain(graceMs)));
    },
  };
};
