import type { Pass, Surroundings, Touched } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import { controllerOf, placement as placementOn, resolve } from '../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { type Endings, oneMore, type PlaceableNode, type PlacedPod, place, type Removal } from '../placement/index.ts';
import type { Chores } from './chores.ts';
import type { Creator } from './creator.ts';
import type { Deeds } from './deeds.ts';
import type { KeptPod } from './kept-pod.ts';
import type { PodCare } from './pod-care.ts';
import type { KnownRevision } from './revision-keeper.ts';
import { createShares, shareOf } from './shares.ts';
import { createStatusKeeper, statusOf } from './status.ts';
import type { TargetFinder } from './target.ts';

export interface UpkeepOptions extends Surroundings<AdvancedView, KeptPod> {
  finder: TargetFinder;
  deeds: Deeds;
  chores: Chores;
  creator: Creator;
  care: PodCare;
}

const NEVER = Number.POSITIVE_INFINITY;
const noNodes: ReadonlySet<string> = new Set();

const placed = ({ facts }: KeptPod): PlacedPod => ({
  name: facts.name,
  uid: facts.uid,
  node: facts.node,
  bound: facts.unbound !== true,
  createdAt: facts.createdAt,
  terminating: facts.terminating,
  finished: facts.finished,
  revision: facts.revision,
});

const reasons: Readonly<Record<Removal['why'], string>> = {
  'not-eligible': 'its node is not eligible any more',
  duplicate: 'the node has another',
  failed: 'it has failed',
  succeeded: 'it has ended',
  'node-gone': 'its node is gone',
};

/**
 * What is done besides the rollout: pods are created, removed, adopted and looked after, and the status is kept. Only
 * nodes that an event was about are looked at, and those whose turn has come; the others count as sums.
 */
export const createUpkeep = (options: UpkeepOptions) => {
  const { env, view: viewNow, ledger, nodes, pods, teller, finder, deeds, chores, creator, care } = options;
  const { clock } = env;
  const shares = createShares();
  const status = createStatusKeeper(options);
  /** Nodes to look at. */
  const open = new Set<string>();
  /** By node: when time alone changes what it is; epoch ms. */
  const due = new Map<string, number>();
  /** Keys of the pods for each node. */
  const byNode = new Map<string, Set<string>>();
  const endings = new Map<string, Endings>();
  const natives = new Set<string>();
  let lookedFor:
    | { hash: string | undefined; policy: AdvancedView['policy']; preDelete: AdvancedView['preDelete'] }
    | undefined;

  const podsOn = (node: string): KeptPod[] => {
    const keys = byNode.get(node);
    if (!keys) return [];
    const found: KeptPod[] = [];
    for (const key of keys) {
      const kept = pods.get(key);
      if (kept?.facts.node === node) found.push(kept);
      else keys.delete(key);
    }
    if (keys.size === 0) byNode.delete(node);
    return found;
  };

  const touched: Touched<KeptPod> = {
    node: (name) => void open.add(name),
    pod(kept) {
      const { facts, standing, pod } = kept;
      const key = keyOf({ metadata: { namespace: viewNow().namespace, name: facts.name } });
      open.add(facts.node);
      const keys = byNode.get(facts.node);
      if (keys) keys.add(key);
      else byNode.set(facts.node, new Set([key]));
      if (pods.get(key)?.facts.uid !== facts.uid) {
        creator.gone(kept);
        chores.forget(facts.uid);
        care.lost(kept);
      }
      const owner = standing === 'native' ? controllerOf(pod)?.uid : undefined;
      if (owner !== undefined && !natives.has(owner)) {
        natives.add(owner);
        finder.suspectNative();
      }
    },
  };

  /** What every node is measured by has changed: all are looked at. */
  const openAll = (view: AdvancedView, hash: string | undefined): void => {
    const { policy, preDelete } = view;
    if (lookedFor && lookedFor.hash === hash && lookedFor.policy === policy && lookedFor.preDelete === preDelete)
      return;
    lookedFor = { hash, policy, preDelete };
    for (const node of nodes.values()) open.add(node.name);
    for (const node of byNode.keys()) open.add(node);
  };

  const placeable = (view: AdvancedView, name: string): PlaceableNode | undefined => {
    const node = nodes.get(name);
    return node && { name, online: node.ready, ...placementOn(view.needs, node) };
  };

  /** Nodes that may have an old and a new pod at once. */
  const surgingOf = (names: readonly string[]): ReadonlySet<string> => {
    const all = viewNow().policy.policy.maxSurge.value > 0;
    return new Set(names.filter((name) => all || ledger.get(name)?.act?.kind === 'surge'));
  };

  const common = (names: readonly string[], hash: string, now: number) => ({
    revision: hash,
    surging: surgingOf(names),
    endings,
    now,
  });

  /** Would anything be created or removed here, limits aside? */
  const wishes = (
    name: string,
    node: PlaceableNode | undefined,
    here: readonly PlacedPod[],
    hash: string,
    now: number,
  ) => {
    const unlimited = { burst: NEVER, maxLeaving: NEVER, mostUpdated: NEVER };
    return place({ nodes: node ? [node] : [], pods: here, ...unlimited, ...common([name], hash, now) });
  };

  const remove = ({ pod: { name, node }, why }: Removal, kept: KeptPod): void => {
    if (why === 'failed')
      teller.once(
        `failed ${kept.facts.uid}`,
        'FailedDaemonPod',
        'Delete',
        `Pod ${name} on ${node} has failed, and is replaced.`,
      );
    chores.launch(
      kept,
      (signal) => deeds.takeAway(kept, signal),
      (outcome) => {
        if (outcome.kind === 'refused' && outcome.reason !== undefined)
          teller.refused('delete', name, node, outcome.reason, outcome.message);
        if (outcome.kind !== 'done') return;
        if (why === 'failed' || why === 'succeeded') endings.set(node, oneMore(endings.get(node), clock.now()));
        teller.tell('Normal', 'SuccessfulDelete', 'Delete', `Deleted pod ${name} on ${node}: ${reasons[why]}.`);
      },
    );
  };

  const limits = (view: AdvancedView, here: readonly string[]) => {
    const { sums } = shares;
    const { maxUnavailable, partition } = view.policy.policy;
    const { desired } = sums;
    const others = { leaving: sums.leaving, carrying: sums.carrying };
    for (const node of here) {
      const share = shares.of(node);
      others.leaving -= share.leaving;
      others.carrying -= share.carrying;
    }
    const most = view.progressive ? desired - resolve(partition, desired, 'down') : NEVER;
    return {
      burst: Math.max(0, Math.max(1, resolve(view.burst, desired, 'up')) - creator.inFlight()),
      maxLeaving: Math.max(0, Math.max(1, resolve(maxUnavailable, desired, 'up')) - others.leaving),
      mostUpdated: most - others.carrying - creator.inFlight(),
    };
  };

  /** Creates and removes what the limits allow on the nodes that want something. */
  const arrange = (
    { view, signal }: Pass<AdvancedView>,
    known: KnownRevision,
    wanting: readonly string[],
    now: number,
  ): { removing: ReadonlySet<string>; wakeAt: number } => {
    const here = new Map(wanting.flatMap((node) => podsOn(node).map((kept) => [kept.facts.uid, kept] as const)));
    const { create, remove: removals } = place({
      nodes: wanting.flatMap((node) => placeable(view, node) ?? []),
      pods: [...here.values()].map(placed),
      ...limits(view, wanting),
      ...common(wanting, known.target.hash, now),
    });
    let wakeAt = create.length > 0 && creator.turn() > now ? creator.turn() : NEVER;
    creator.begin(view, known, create, signal);
    const removing = new Set<string>();
    for (const removal of removals) {
      const kept = here.get(removal.pod.uid);
      if (!kept) continue;
      removing.add(kept.facts.uid);
      remove(removal, kept);
      const turn = chores.turnOf(kept);
      if (turn > now) wakeAt = Math.min(wakeAt, turn);
    }
    return { removing, wakeAt };
  };

  /** Looks at one node; resolves to what it still wants. */
  const look = (view: AdvancedView, name: string, known: KnownRevision | undefined, now: number) => {
    const kept = podsOn(name);
    const ours = kept.filter(({ standing }) => standing === 'ours');
    const node = nodes.get(name);
    const facts = ours.map((each) => each.facts);
    const { share, changesAt } = shareOf(view, node, facts, known?.target.hash, now);
    if (!node && kept.length === 0) {
      shares.set(name, undefined);
      endings.delete(name);
      creator.forget(name);
      return { kept, wants: false, lookAt: NEVER };
    }
    shares.set(name, share);
    const orphans = kept.some(({ standing, facts: each }) => standing === 'orphan' && !each.terminating);
    const coming = creator.isComing(name, kept);
    if (!known || orphans || coming) return { kept, wants: false, lookAt: Math.min(changesAt, creator.lookAt(name)) };
    const wish = wishes(name, placeable(view, name), ours.map(placed), known.target.hash, now);
    return {
      kept,
      wants: wish.create.length + wish.remove.length > 0,
      lookAt: Math.min(changesAt, wish.wakeAt),
    };
  };

  return {
    touched,
    maintain: async (pass: Pass<AdvancedView>): Promise<number> => {
      const { decision, signal } = pass;
      signal.throwIfAborted();
      const now = clock.now();
      const view = status.seen(pass.view);
      const blocked = finder.blocked();
      const known = blocked ? undefined : finder.known(pass.view);
      openAll(pass.view, known?.target.hash);
      for (const [node, at] of due) if (at <= now) open.add(node);
      const wanting: string[] = [];
      const looked: { name: string; kept: readonly KeptPod[]; lookAt: number }[] = [];
      for (const name of open) {
        const { kept, wants, lookAt } = look(view, name, known, now);
        if (wants) wanting.push(name);
        looked.push({ name, kept, lookAt });
      }
      const releaseAt = blocked ? NEVER : care.releaseLost(view);
      const arranged = known ? arrange(pass, known, wanting, now) : { removing: noNodes, wakeAt: NEVER };
      let wakeAt = Math.min(arranged.wakeAt, releaseAt);
      const stay = new Set(wanting);
      for (const { name, kept, lookAt } of looked) {
        let nextAt = lookAt;
        for (const each of kept) {
          const at = blocked ? NEVER : care.tend(view, each, known, arranged.removing.has(each.facts.uid));
          if (at === undefined) stay.add(name);
          else nextAt = Math.min(nextAt, at);
        }
        if (!stay.has(name)) open.delete(name);
        if (nextAt === NEVER) due.delete(name);
        else due.set(name, nextAt);
      }
      for (const at of due.values()) wakeAt = Math.min(wakeAt, Math.max(at, now));
      const statusAt = status.keep(
        view,
        statusOf({
          view,
          decision,
          sums: shares.sums,
          hash: known?.target.hash,
          blocked,
          refusal: creator.refusal(),
          now,
        }),
      );
      return Math.min(wakeAt, statusAt);
    },
    async stop(graceMs: number): Promise<void> {
      await Promise.all([creator.stop(graceMs), chores.stop(graceMs), status.stop(graceMs), care.stop(graceMs)]);
    },
  };
};
export type Upkeep = ReturnType<typeof createUpkeep>;
