import type { ManageInput, ReconcilerContext } from '../../controller/index.ts';
import { nodeShouldRunDaemonPod as placementOn, scaledValue } from '../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import type { CachedPod } from '../podcontrol/cached-pod.ts';
import type { PodUpdates } from '../podcontrol/pod-updates.ts';
import type { PodWriter } from '../podcontrol/pod-writer.ts';
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
import { type Creation, type PlaceableNode, type PlacedPod, place, type Removal } from './place.ts';

export interface NodeSyncOptions
  extends Pick<ReconcilerContext<AdvancedView, CachedPod>, 'env' | 'view' | 'ledger' | 'nodes' | 'events'> {
  dirtyNodes: DirtyNodes;
  counts: StatusCounts;
  updates: PodUpdates;
  writer: PodWriter;
  creator: PodCreator;
}

const NEVER = Number.POSITIVE_INFINITY;

const reasons: Readonly<Record<Removal['why'], string>> = {
  'not-eligible': 'its node is not eligible any more',
  duplicate: 'the node has another',
  failed: 'it has failed',
  succeeded: 'it has ended',
  'node-gone': 'its node is gone',
};

/** Creates and removes pods as placement asks for it, within the limits of the whole DaemonSet. */
export const createNodeSync = (options: NodeSyncOptions) => {
  const { env, view: viewNow, ledger, nodes, events, dirtyNodes, counts, updates, writer, creator } = options;
  const { clock } = env;
  /** By node: pods that ended by themselves there. */
  const finished = new Map<string, FinishedPods>();
  /** By UID: pods that have ended and are being removed. */
  const ended = new Map<string, { node: string; revision: string }>();
  /** UIDs of pods whose removal is on its way to the API server. */
  const going = new Set<string>();
  /** By UID: the version of a pod that waits for its hook, until when. */
  const resting = new Map<string, { version: string; until: number }>();

  const placed = ({ facts: shown }: CachedPod): PlacedPod => {
    const facts = writer.newest(shown);
    return {
      name: facts.name,
      uid: facts.uid,
      node: facts.node,
      bound: facts.unbound !== true,
      createdAt: facts.createdAt,
      terminating: facts.terminating,
      removing: facts.preparingDelete === true || going.has(facts.uid),
      finished: facts.finished,
      revision: facts.revision,
    };
  };

  const placeable = (view: AdvancedView, name: string): PlaceableNode | undefined => {
    const node = nodes.get(name);
    return node && { name, online: node.ready, ...placementOn(view.needs, node) };
  };

  /** A surge that was begun is brought to its end, unless the scheduler says that it cannot be. */
  const isStillSurging = (name: string): boolean =>
    ledger.get(name)?.update?.kind === 'surge' &&
    dirtyNodes.podsOn(name).every(({ facts }) => !facts.unbound || facts.detail === '');

  /** Nodes that may have an old and a new pod at once. */
  const surgingOf = (names: readonly string[]): ReadonlySet<string> => {
    const all = viewNow().policy.policy.maxSurge.value > 0;
    return new Set(names.filter((name) => all || isStillSurging(name)));
  };

  const common = (names: readonly string[], hash: string, now: number) => ({
    revision: hash,
    surging: surgingOf(names),
    finished,
    now,
  });

  const limits = (view: AdvancedView, here: readonly string[]) => {
    const { sums } = counts;
    const { maxUnavailable, partition } = view.policy.policy;
    const { desired } = sums;
    const others = { leaving: sums.leaving, carrying: sums.carrying };
    for (const node of here) {
      const share = counts.of(node);
      others.leaving -= share.leaving;
      others.carrying -= share.carrying;
    }
    const most = view.progressive ? desired - scaledValue(partition, desired, 'down') : NEVER;
    const burst = burstOf(view, desired);
    return {
      mostCreated: Math.max(0, burst - creator.inFlight()),
      mostRemoved: burst - going.size,
      maxLeaving: Math.max(0, Math.max(1, scaledValue(maxUnavailable, desired, 'up')) - others.leaving),
      mostUpdated: most - others.carrying - creator.inFlight(),
    };
  };

  const turnOf = (kept: CachedPod): number => {
    const rest = resting.get(kept.facts.uid);
    const until = rest?.version === kept.facts.resourceVersion ? rest.until : 0;
    return Math.max(writer.turnOf(kept), until);
  };

  const deletePod = async (kept: CachedPod, signal: AbortSignal) => {
    const { uid } = kept.facts;
    going.add(uid);
    try {
      return await updates.deletePod(kept, signal);
    } finally {
      going.delete(uid);
    }
  };

  /** By the answer to its delete or by the watch, whichever is first: its place may be filled before the other comes. */
  const countEnding = (uid: string): void => {
    const { node, revision } = ended.get(uid) ?? {};
    if (node === undefined || revision === undefined) return;
    ended.delete(uid);
    finished.set(node, recordFinished(finished.get(node), revision, clock.now()));
  };

  const remove = ({ pod: { name, node, revision }, why }: Removal, kept: CachedPod): void => {
    if (turnOf(kept) > clock.now()) return;
    if (why === 'failed')
      events.warnOnce(
        `failed ${kept.facts.uid}`,
        'FailedDaemonPod',
        'Delete',
        `Pod ${name} on ${node} has failed, and is replaced.`,
      );
    if (why === 'failed' || why === 'succeeded') ended.set(kept.facts.uid, { node, revision });
    writer.launch(
      kept,
      (signal) => deletePod(kept, signal),
      (outcome) => {
        const { uid, resourceVersion: version } = kept.facts;
        if (outcome.kind === 'later') resting.set(uid, { version, until: outcome.at });
        else resting.delete(uid);
        if (outcome.kind === 'refused' && outcome.reason !== undefined)
          events.podWriteRefused('delete', name, node, outcome.reason, outcome.message);
        if (outcome.kind === 'done') countEnding(uid);
        else if (outcome.kind !== 'unsure') ended.delete(uid);
        if (outcome.kind !== 'done') return;
        events.event('Normal', 'SuccessfulDelete', 'Delete', `Deleted pod ${name} on ${node}: ${reasons[why]}.`);
      },
    );
  };

  /** What a leader before us knew of the pods that ended here stands on the one that came after. */
  const recall = (node: string, here: readonly CachedPod[], now: number): void => {
    for (const { pod, facts } of here) {
      const said = parseFinished(pod.metadata?.annotations?.[FINISHED_PODS_ANNOTATION], facts.revision, now);
      const known = latestOf(finished.get(node), said);
      if (known) finished.set(node, known);
    }
  };

  const withEndings = (creation: Creation, hash: string) => {
    const said = formatFinished(finished.get(creation.node), hash);
    return said === undefined ? creation : { ...creation, annotations: { [FINISHED_PODS_ANNOTATION]: said } };
  };

  return {
    /** What would be done on the node, limits aside? `lookAt`: when time alone changes that. */
    plan(view: AdvancedView, name: string, ours: readonly CachedPod[], hash: string, now: number) {
      recall(name, ours, now);
      const node = placeable(view, name);
      const {
        create,
        remove: removals,
        wakeAt,
      } = place({
        nodes: node ? [node] : [],
        pods: ours.map(placed),
        mostCreated: NEVER,
        mostRemoved: NEVER,
        maxLeaving: NEVER,
        mostUpdated: NEVER,
        ...common([name], hash, now),
      });
      const again: Requeue = removals.length > 0 ? 'each pass' : create.length > 0 ? 'creation' : undefined;
      return { again, lookAt: wakeAt };
    },
    /** Would one more pod be created if a node wanted it? */
    mayCreate: (view: AdvancedView): boolean =>
      creator.isIdle() && creator.inFlight() < burstOf(view, counts.sums.desired),
    /** Creates and removes what the limits allow on the nodes that want something. */
    sync(
      { view, signal }: ManageInput<AdvancedView>,
      known: CurrentRevision,
      wanting: readonly string[],
      now: number,
    ): { removing: ReadonlySet<string>; wakeAt: number } {
      const { hash } = known.target;
      const here = new Map(
        wanting.flatMap((node) => dirtyNodes.podsOn(node).map((kept) => [kept.facts.uid, kept] as const)),
      );
      const { create, remove: removals } = place({
        nodes: wanting.flatMap((node) => placeable(view, node) ?? []),
        pods: [...here.values()].flatMap((kept) => (kept.ownership === 'ours' ? [placed(kept)] : [])),
        ...limits(view, wanting),
        ...common(wanting, hash, now),
      });
      let wakeAt = create.length > 0 && creator.nextAttemptAt() > now ? creator.nextAttemptAt() : NEVER;
      creator.begin(
        view,
        known,
        create.map((creation) => withEndings(creation, hash)),
        signal,
      );
      const removing = new Set<string>();
      for (const removal of removals) {
        const kept = here.get(removal.pod.uid);
        if (!kept) continue;
        removing.add(kept.facts.uid);
        remove(removal, kept);
        const turn = turnOf(kept);
        if (turn > now) wakeAt = Math.min(wakeAt, turn);
      }
      return { removing, wakeAt };
    },
    gone({ facts: { uid } }: CachedPod): void {
      resting.delete(uid);
      countEnding(uid);
    },
    /** The node is gone. */
    forget(node: string): void {
      finished.delete(node);
    },
  };
};
export type NodeSync = ReturnType<typeof createNodeSync>;
