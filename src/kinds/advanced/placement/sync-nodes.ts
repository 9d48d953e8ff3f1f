import type { ManageInput, ReconcilerContext } from '../../../controller/index.ts';
import { isDeletedTerminal, nodeShouldRunDaemonPod, scaledValue } from '../../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import type { CachedPod } from '../podcontrol/cached-pod.ts';
import type { MaintenanceWriter } from '../podcontrol/maintenance-writer.ts';
import type { PodOperations } from '../podcontrol/pod-operations.ts';
import type { CurrentRevision } from '../revisions/sync-history.ts';
import type { StatusCounts } from '../status/counts.ts';
import { burstOf } from './burst.ts';
import type { PodCreator } from './create-pods.ts';
import type { DirtyNodes, Requeue } from './dirty-nodes.ts';
import {
  FINISHED_PODS_ANNOTATION,
  type FinishedPods,
  formatFinished,
  latestOf,
  parseFinished,
  recordFinished,
} from './failed-pod-backoff.ts';
import { heldRevisionOn } from './held-revision.ts';
import { type Creation, type PlaceableNode, type PlacedPod, place, type Removal } from './place.ts';

export interface NodeSyncOptions
  extends Pick<ReconcilerContext<AdvancedView, CachedPod>, 'env' | 'view' | 'ledger' | 'nodes' | 'events'> {
  dirtyNodes: DirtyNodes;
  counts: StatusCounts;
  operations: PodOperations;
  writer: MaintenanceWriter;
  creator: PodCreator;
}

const NEVER = Number.POSITIVE_INFINITY;
const unlimited = { maxCreated: NEVER, maxRemoved: NEVER, maxLeaving: NEVER, maxUpdated: NEVER };

const reasons: Readonly<Record<Removal['why'], string>> = {
  'not-eligible': 'its node is no longer eligible',
  duplicate: 'the node has another pod',
  failed: 'it failed',
  succeeded: 'it completed',
  'node-gone': 'its node no longer exists',
};

export interface NodeSync {
  /** What the node needs, regardless of limits. `recheckAt`: when time alone changes that, epoch ms. */
  check(
    view: AdvancedView,
    name: string,
    ours: readonly CachedPod[],
    hash: string,
    now: number,
  ): { requeue: Requeue; recheckAt: number };
  /** Nothing but an update would remove the pod: its node is eligible and has no other one. */
  stays(view: AdvancedView, cached: CachedPod): boolean;
  /** Would another pod be created if a node needed one? */
  mayCreate: (view: AdvancedView) => boolean;
  /** Starts the creations and removals that the limits allow on these nodes. */
  sync(
    input: ManageInput<AdvancedView>,
    current: CurrentRevision,
    names: readonly string[],
    now: number,
  ): { removing: ReadonlySet<string>; wakeAt: number };
  podGone(cached: CachedPod): void;
  forgetNode: (node: string) => void;
}

/** Creates and removes pods as placement decides, within the limits of the whole DaemonSet. */
export const createNodeSync = (options: NodeSyncOptions): NodeSync => {
  const { env, view: currentView, ledger, nodes, events, dirtyNodes, counts, operations, writer, creator } = options;
  const { clock } = env;
  /** By node: the back-off after pods that finished there. */
  const finished = new Map<string, FinishedPods>();
  /** By UID: finished pods that are being removed. */
  const removingFinished = new Map<string, { node: string; revision: string }>();
  /** UIDs of pods whose removal is in flight. */
  const removing = new Set<string>();
  /** By UID: the version of a pod that waits for its hook, and until when. */
  const hookWaits = new Map<string, { version: string; until: number }>();

  const placedPod = ({ facts }: CachedPod): PlacedPod => ({
    name: facts.name,
    uid: facts.uid,
    node: facts.node,
    bound: facts.unbound !== true,
    createdAt: facts.createdAt,
    terminating: facts.terminating,
    removing: facts.preparingDelete === true || removing.has(facts.uid),
    finished: facts.finished,
    revision: facts.revision,
  });

  const placeableNode = (view: AdvancedView, name: string): PlaceableNode | undefined => {
    const node = nodes.get(name);
    return node && { name, online: node.ready, ...nodeShouldRunDaemonPod(view.needs, node) };
  };

  /** A surge that has started is completed even if maxSurge is now 0, unless the new pod can't be scheduled. */
  const isStillSurging = (name: string): boolean =>
    ledger.get(name)?.update?.kind === 'surge' &&
    dirtyNodes.podsOn(name).every(({ facts }) => !facts.unbound || facts.detail === '');

  const placementInput = (
    view: AdvancedView,
    names: readonly string[],
    pods: Iterable<CachedPod>,
    hash: string,
    now: number,
  ) => {
    const surgesAll = currentView().policy.policy.maxSurge.value > 0;
    return {
      nodes: names.flatMap((name) => placeableNode(view, name) ?? []),
      pods: [...pods].flatMap((cached) =>
        cached.ownership === 'ours' && !isDeletedTerminal(cached.facts) ? [placedPod(cached)] : [],
      ),
      revision: hash,
      surging: new Set(names.filter((name) => surgesAll || isStillSurging(name))),
      finished,
      now,
    };
  };

  /** What the limits leave for these nodes, given the counts of all others. */
  const limitsFor = (view: AdvancedView, names: readonly string[]) => {
    const { eligible, leaving, onCurrentRevision } = counts.totals;
    const { maxUnavailable, partition } = view.policy.policy;
    const others = { leaving, onCurrentRevision };
    for (const name of names) {
      const node = counts.of(name);
      others.leaving -= node.leaving;
      others.onCurrentRevision -= node.onCurrentRevision;
    }
    const maxUpdated = view.progressive ? eligible - scaledValue(partition, eligible, 'down') : NEVER;
    const burst = burstOf(view, eligible);
    return {
      maxCreated: Math.max(0, burst - creator.expectations.inFlight()),
      maxRemoved: burst - removing.size,
      maxLeaving: Math.max(0, Math.max(1, scaledValue(maxUnavailable, eligible, 'up')) - others.leaving),
      maxUpdated: maxUpdated - others.onCurrentRevision - creator.expectations.inFlight(),
    };
  };

  const nextWriteAt = (cached: CachedPod): number => {
    const wait = hookWaits.get(cached.facts.uid);
    const until = wait?.version === cached.facts.resourceVersion ? wait.until : 0;
    return Math.max(writer.nextWriteAt(cached), until);
  };

  const deletePod = async (cached: CachedPod, keeps: PlacedPod | undefined, signal: AbortSignal) => {
    const { uid } = cached.facts;
    removing.add(uid);
    try {
      // A late watch may show a pod that is gone, and the only one of its node as a duplicate of it.
      const missing = keeps && (await operations.findMissing(keeps, signal));
      return missing ?? (await operations.deletePod(cached, signal));
    } finally {
      removing.delete(uid);
    }
  };

  /** Called on the response to the delete and on the watch event: the replacement may be created after either of them. */
  const countFinished = (uid: string): void => {
    const { node, revision } = removingFinished.get(uid) ?? {};
    if (node === undefined || revision === undefined) return;
    removingFinished.delete(uid);
    finished.set(node, recordFinished(finished.get(node), revision, clock.now()));
  };

  const remove = ({ pod: { name, node, revision }, why, keeps }: Removal, cached: CachedPod): void => {
    if (nextWriteAt(cached) > clock.now()) return;
    const { uid, resourceVersion: version } = cached.facts;
    if (why === 'failed')
      events.warnOnce(`failed ${uid}`, 'FailedDaemonPod', 'Delete', `Replacing failed pod ${name} on ${node}.`);
    if (why === 'failed' || why === 'succeeded') removingFinished.set(uid, { node, revision });
    writer.start(
      cached,
      (signal) => deletePod(cached, keeps, signal),
      (outcome) => {
        if (outcome.kind === 'later') hookWaits.set(uid, { version, until: outcome.at });
        else hookWaits.delete(uid);
        if (outcome.kind === 'refused' && outcome.reason !== undefined)
          events.podWriteRefused('delete', name, node, outcome.reason, outcome.message);
        if (outcome.kind === 'done') countFinished(uid);
        else if (outcome.kind !== 'unsure') removingFinished.delete(uid);
        if (outcome.kind !== 'done') return;
        events.event('Normal', 'SuccessfulDelete', 'Delete', `Deleted pod ${name} on ${node}: ${reasons[why]}.`);
      },
    );
  };

  /** Takes over the back-off that a previous leader recorded on the pod that replaced a finished one. */
  const restoreBackoff = (node: string, pods: readonly CachedPod[], now: number): void => {
    for (const { pod, facts } of pods) {
      const recorded = parseFinished(pod.metadata?.annotations?.[FINISHED_PODS_ANNOTATION], facts.revision, now);
      const latest = latestOf(finished.get(node), recorded);
      if (latest) finished.set(node, latest);
    }
  };

  const heldOn = (current: CurrentRevision, names: readonly string[]): ReadonlyMap<string, string> =>
    new Map(
      names.flatMap((name) => {
        const held = heldRevisionOn(ledger, current, name);
        return held === undefined ? [] : [[name, held] as const];
      }),
    );

  /** The plan is being read: it will say whether these nodes are kept from the target. */
  const awaitsPlan = ({ view, decision }: ManageInput<AdvancedView>) => {
    const { rolloutPlan, plan } = view.policy.policy;
    const isRead = rolloutPlan === undefined || plan !== undefined || decision.summary.hold?.kind !== 'unsynced';
    return (name: string): boolean => !isRead && ledger.get(name)?.status.heldRevision !== undefined;
  };

  const withBackoff = (creation: Creation, hash: string): Creation => {
    const text = formatFinished(finished.get(creation.node), creation.revision ?? hash);
    return text === undefined ? creation : { ...creation, annotations: { [FINISHED_PODS_ANNOTATION]: text } };
  };

  return {
    check(view, name, ours, hash, now) {
      restoreBackoff(name, ours, now);
      const {
        create,
        remove: removals,
        wakeAt,
      } = place({
        ...placementInput(view, [name], ours, hash, now),
        ...unlimited,
      });
      const requeue: Requeue = removals.length > 0 ? 'next reconcile' : create.length > 0 ? 'creation' : undefined;
      return { requeue, recheckAt: wakeAt };
    },
    stays(view, { facts }) {
      const node = placeableNode(view, facts.node);
      const live = dirtyNodes.podsOn(facts.node).filter((pod) => pod.ownership === 'ours' && !pod.facts.terminating);
      return node?.shouldContinueRunning === true && live.length === 1;
    },
    mayCreate: (view) => creator.isIdle() && creator.expectations.inFlight() < burstOf(view, counts.totals.eligible),
    sync(input, current, names, now) {
      const { view, signal } = input;
      const { hash } = current.target;
      const waits = awaitsPlan(input);
      const pods = new Map(
        names.flatMap((node) => dirtyNodes.podsOn(node).map((cached) => [cached.facts.uid, cached] as const)),
      );
      const placement = placementInput(view, names, pods.values(), hash, now);
      const { create, remove: removals } = place({
        ...placement,
        nodes: placement.nodes.map((node) => (waits(node.name) ? { ...node, shouldRun: false } : node)),
        ...limitsFor(view, names),
        held: heldOn(current, names),
      });
      let wakeAt = create.length > 0 && creator.nextAttemptAt() > now ? creator.nextAttemptAt() : NEVER;
      creator.start(
        view,
        current,
        create.map((creation) => withBackoff(creation, hash)),
        signal,
      );
      const removed = new Set<string>();
      for (const removal of removals) {
        const cached = pods.get(removal.pod.uid);
        if (!cached) continue;
        removed.add(cached.facts.uid);
        remove(removal, cached);
        const nextAt = nextWriteAt(cached);
        if (nextAt > now) wakeAt = Math.min(wakeAt, nextAt);
      }
      return { removing: removed, wakeAt };
    },
    podGone({ facts: { uid } }) {
      hookWaits.delete(uid);
      countFinished(uid);
    },
    forgetNode: (node) => void finished.delete(node),
  };
};
