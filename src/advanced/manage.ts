import type { KindEventHandlers, ManageInput, ReconcilerContext } from '../controller/index.ts';
import { controllerOf, idleReason } from '../rollout/index.ts';
import type { AdvancedView } from './advanced-view.ts';
import { createFinalizer } from './lifecycle/finalizer.ts';
import type { PodCreator } from './placement/create-pods.ts';
import { createDirtyNodes, type Requeue } from './placement/dirty-nodes.ts';
import { createNodeSync } from './placement/sync-nodes.ts';
import type { CachedPod } from './podcontrol/cached-pod.ts';
import { createControllerRefManager } from './podcontrol/controller-ref-manager.ts';
import type { PodUpdates } from './podcontrol/pod-updates.ts';
import type { PodWriter } from './podcontrol/pod-writer.ts';
import type { PodSync } from './podcontrol/sync-pod.ts';
import type { CurrentRevision } from './revisions/sync-history.ts';
import type { TargetFinder } from './revisions/target.ts';
import { countNode, createStatusCounts } from './status/counts.ts';
import { createStatusWriter, statusOf } from './status/status.ts';

export interface PodManagementOptions extends ReconcilerContext<AdvancedView, CachedPod> {
  finder: TargetFinder;
  updates: PodUpdates;
  writer: PodWriter;
  creator: PodCreator;
  podSync: PodSync;
}

const NEVER = Number.POSITIVE_INFINITY;
const noPods: ReadonlySet<string> = new Set();

/**
 * What is done besides the rollout: pods are created, removed, adopted and looked after, and the status is kept. Only
 * nodes that an event was about are looked at, and those whose turn has come; the others count as sums.
 */
export const createPodManagement = (options: PodManagementOptions) => {
  const { env, ledger, nodes, finder, updates, writer, creator, podSync } = options;
  const { clock } = env;
  const dirtyNodes = createDirtyNodes(options);
  const counts = createStatusCounts();
  const status = createStatusWriter(options);
  const nodeSync = createNodeSync({ ...options, dirtyNodes, counts });
  const finalizer = createFinalizer(options);
  const refManager = createControllerRefManager(options);
  const natives = new Set<string>();

  const touched: KindEventHandlers<CachedPod> = {
    node: dirtyNodes.addNode,
    pod(kept) {
      const { facts, ownership, pod } = kept;
      const isThere = dirtyNodes.addPod(kept);
      updates.seen(kept, isThere);
      if (isThere) {
        if (ownership === 'ours') creator.podObserved(kept);
      } else {
        creator.podGone(kept);
        writer.forget(facts.uid);
        refManager.podGone(kept);
        finalizer.gone(kept);
        nodeSync.gone(kept);
      }
      const owner = ownership === 'native' ? controllerOf(pod)?.uid : undefined;
      if (owner !== undefined && !natives.has(owner)) {
        natives.add(owner);
        finder.suspectNative();
      }
    },
  };

  /** Looks at one node: what it adds to the sums, and whether it wants a pod, or one less. */
  const look = (view: AdvancedView, name: string, known: CurrentRevision | undefined, now: number) => {
    const kept = dirtyNodes.podsOn(name);
    const ours = kept.filter(({ ownership }) => ownership === 'ours');
    const node = nodes.get(name);
    const facts = ours.map((each) => writer.newest(each.facts));
    const readySinceOf = (uid: string): number | undefined =>
      ledger.get(name)?.pods.find((pod) => pod.facts.uid === uid)?.readySince;
    const { share, changesAt } = countNode(view, node, facts, known?.target.hash, readySinceOf, now);
    if (!node && kept.length === 0) {
      counts.set(name, undefined);
      nodeSync.forget(name);
      creator.forgetNode(name);
      return { name, kept, again: undefined, wants: false, lookAt: NEVER };
    }
    counts.set(name, share);
    const orphans = kept.some(({ ownership, facts: each }) => ownership === 'orphan' && !each.terminating);
    const coming = creator.isExpected(name);
    if (!known || orphans || coming) {
      const lookAt = Math.min(changesAt, creator.lookAt(name));
      const again: Requeue = creator.isBeingCreated(name) ? 'each pass' : undefined;
      return { name, kept, again, wants: false, lookAt };
    }
    const wish = nodeSync.plan(view, name, ours, known.target.hash, now);
    const { again } = wish;
    return { name, kept, again, wants: again !== undefined, lookAt: Math.min(changesAt, wish.lookAt) };
  };

  /** `tend`: when to look at a pod again; undefined for at the next pass. */
  const tendAll = (looked: readonly ReturnType<typeof look>[], tend: (kept: CachedPod) => number | undefined): void => {
    for (const { name, kept, again, lookAt } of looked) {
      const times = kept.map(tend);
      const recheckAt = Math.min(lookAt, ...times.map((at) => at ?? NEVER));
      dirtyNodes.synced(name, recheckAt, times.includes(undefined) ? 'each pass' : again);
    }
  };

  return {
    touched,
    async maintain(pass: ManageInput<AdvancedView>): Promise<number> {
      const { decision, signal } = pass;
      signal.throwIfAborted();
      const now = clock.now();
      const view = status.seen(pass.view);
      const blocked = finder.blocked();
      const known = blocked ? undefined : finder.known(pass.view);
      const last = finder.last();
      const hash = known?.target.hash;
      const mayCreate = nodeSync.mayCreate(view);
      const turns = dirtyNodes.due({ ...pass.view, hash, blocked: blocked !== undefined }, mayCreate, now);
      const looked = turns.map((name) => look(view, name, known, now));
      const wanting = looked.flatMap(({ name, wants }) => (wants ? [name] : []));
      const arranged = known ? nodeSync.sync(pass, known, wanting, now) : { removing: noPods, wakeAt: NEVER };
      const careFor = (kept: CachedPod): number | undefined => {
        if (blocked) return last ? podSync.finish(kept, last) : NEVER;
        return podSync.tend(view, kept, known, arranged.removing.has(kept.facts.uid));
      };
      tendAll(looked, careFor);
      const releaseAt = blocked ? NEVER : refManager.release(view);
      const finalizerAt = blocked ? NEVER : finalizer.keep(pass.view, true);
      const refusal = creator.refusal();
      const awaited = finalizer.awaited();
      const resting = idleReason(ledger, decision.summary);
      const said = statusOf({ view, decision, resting, counts: counts.sums, hash, blocked, refusal, awaited, now });
      // A pod that was seen to be there now has made room for others, which this pass has not looked at.
      const hasRoom = !mayCreate && nodeSync.mayCreate(view);
      const createAt = !dirtyNodes.awaitsCreation()
        ? NEVER
        : hasRoom
          ? now
          : creator.nextAttemptAt() > now
            ? creator.nextAttemptAt()
            : NEVER;
      return Math.min(
        arranged.wakeAt,
        createAt,
        dirtyNodes.nextDueAt(now),
        releaseAt,
        finalizerAt,
        status.keep(view, said),
      );
    },
    /** The same of a DaemonSet that is being deleted: its pods go through their hook, and nothing else is begun. */
    async depart(current: AdvancedView, signal: AbortSignal): Promise<number | undefined> {
      if (!current.deleted) return undefined;
      const target = await finder.find(current, signal);
      signal.throwIfAborted();
      const now = clock.now();
      const view = status.seen(current);
      const blocked = finder.blocked();
      const turns = dirtyNodes.due({ ...current, hash: undefined, blocked: blocked !== undefined }, true, now);
      const looked = turns.map((name) => look(view, name, undefined, now));
      tendAll(looked, (kept) => (blocked ? NEVER : finalizer.tend(view, kept)));
      const finalizerAt = blocked ? NEVER : finalizer.keep(current, creator.inFlight() === 0);
      const awaited = finalizer.awaited();
      const common = { view, counts: counts.sums, hash: undefined, refusal: undefined, decision: undefined };
      const statusAt = status.keep(view, statusOf({ ...common, blocked, awaited, now }));
      const obstacleAt = target.kind === 'held' ? target.recheckAt : NEVER;
      return Math.min(dirtyNodes.nextDueAt(now), finalizerAt, statusAt, obstacleAt);
    },
    async stop(graceMs: number): Promise<void> {
      const parts = [creator, writer, status, refManager, finalizer];
      await Promise.all(parts.map((part) => part.stop(graceMs)));
    },
  };
};
export type PodManagement = ReturnType<typeof createPodManagement>;
