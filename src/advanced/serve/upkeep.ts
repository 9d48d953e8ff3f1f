import type { KindEventHandlers, ManageInput, ReconcilerContext } from '../../controller/index.ts';
import { controllerOf, restsOn } from '../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { type Again, createAgenda } from './agenda.ts';
import { createArranger } from './arranger.ts';
import type { Chores } from './chores.ts';
import type { Creator } from './creator.ts';
import type { Deeds } from './deeds.ts';
import { createFarewell } from './farewell.ts';
import type { KeptPod } from './kept-pod.ts';
import type { PodCare } from './pod-care.ts';
import type { KnownRevision } from './revision-keeper.ts';
import { createShares, shareOf } from './shares.ts';
import { createStatusKeeper, statusOf } from './status.ts';
import { createStrays } from './strays.ts';
import type { TargetFinder } from './target.ts';

export interface UpkeepOptions extends ReconcilerContext<AdvancedView, KeptPod> {
  finder: TargetFinder;
  deeds: Deeds;
  chores: Chores;
  creator: Creator;
  care: PodCare;
}

const NEVER = Number.POSITIVE_INFINITY;
const noPods: ReadonlySet<string> = new Set();

/**
 * What is done besides the rollout: pods are created, removed, adopted and looked after, and the status is kept. Only
 * nodes that an event was about are looked at, and those whose turn has come; the others count as sums.
 */
export const createUpkeep = (options: UpkeepOptions) => {
  const { env, ledger, nodes, finder, deeds, chores, creator, care } = options;
  const { clock } = env;
  const agenda = createAgenda(options);
  const shares = createShares();
  const status = createStatusKeeper(options);
  const arranger = createArranger({ ...options, agenda, shares });
  const farewell = createFarewell(options);
  const strays = createStrays(options);
  const natives = new Set<string>();

  const touched: KindEventHandlers<KeptPod> = {
    node: agenda.node,
    pod(kept) {
      const { facts, standing, pod } = kept;
      const isThere = agenda.pod(kept);
      deeds.seen(kept, isThere);
      if (isThere) {
        if (standing === 'ours') creator.shown(kept);
      } else {
        creator.gone(kept);
        chores.forget(facts.uid);
        strays.lost(kept);
        farewell.gone(kept);
        arranger.gone(kept);
      }
      const owner = standing === 'native' ? controllerOf(pod)?.uid : undefined;
      if (owner !== undefined && !natives.has(owner)) {
        natives.add(owner);
        finder.suspectNative();
      }
    },
  };

  /** Looks at one node: what it adds to the sums, and whether it wants a pod, or one less. */
  const look = (view: AdvancedView, name: string, known: KnownRevision | undefined, now: number) => {
    const kept = agenda.podsOn(name);
    const ours = kept.filter(({ standing }) => standing === 'ours');
    const node = nodes.get(name);
    const facts = ours.map((each) => chores.newest(each.facts));
    const readySinceOf = (uid: string): number | undefined =>
      ledger.get(name)?.pods.find((pod) => pod.facts.uid === uid)?.readySince;
    const { share, changesAt } = shareOf(view, node, facts, known?.target.hash, readySinceOf, now);
    if (!node && kept.length === 0) {
      shares.set(name, undefined);
      arranger.forget(name);
      creator.forget(name);
      return { name, kept, again: undefined, wants: false, lookAt: NEVER };
    }
    shares.set(name, share);
    const orphans = kept.some(({ standing, facts: each }) => standing === 'orphan' && !each.terminating);
    const coming = creator.isComing(name);
    if (!known || orphans || coming) {
      const lookAt = Math.min(changesAt, creator.lookAt(name));
      const again: Again = creator.isBeingCreated(name) ? 'each pass' : undefined;
      return { name, kept, again, wants: false, lookAt };
    }
    const wish = arranger.wishes(view, name, ours, known.target.hash, now);
    const { again } = wish;
    return { name, kept, again, wants: again !== undefined, lookAt: Math.min(changesAt, wish.lookAt) };
  };

  /** `tend`: when to look at a pod again; undefined for at the next pass. */
  const tendAll = (looked: readonly ReturnType<typeof look>[], tend: (kept: KeptPod) => number | undefined): void => {
    for (const { name, kept, again, lookAt } of looked) {
      const times = kept.map(tend);
      const recheckAt = Math.min(lookAt, ...times.map((at) => at ?? NEVER));
      agenda.looked(name, recheckAt, times.includes(undefined) ? 'each pass' : again);
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
      const mayCreate = arranger.mayCreate(view);
      const turns = agenda.turns({ ...pass.view, hash, blocked: blocked !== undefined }, mayCreate, now);
      const looked = turns.map((name) => look(view, name, known, now));
      const wanting = looked.flatMap(({ name, wants }) => (wants ? [name] : []));
      const arranged = known ? arranger.arrange(pass, known, wanting, now) : { removing: noPods, wakeAt: NEVER };
      const careFor = (kept: KeptPod): number | undefined => {
        if (blocked) return last ? care.finish(kept, last) : NEVER;
        return care.tend(view, kept, known, arranged.removing.has(kept.facts.uid));
      };
      tendAll(looked, careFor);
      const releaseAt = blocked ? NEVER : strays.release(view);
      const finalizerAt = blocked ? NEVER : farewell.keep(pass.view, true);
      const refusal = creator.refusal();
      const awaited = farewell.awaited();
      const resting = restsOn(ledger, decision.summary);
      const said = statusOf({ view, decision, resting, sums: shares.sums, hash, blocked, refusal, awaited, now });
      // A pod that was seen to be there now has made room for others, which this pass has not looked at.
      const hasRoom = !mayCreate && arranger.mayCreate(view);
      const createAt = !agenda.awaitsCreation() ? NEVER : hasRoom ? now : creator.turn() > now ? creator.turn() : NEVER;
      return Math.min(arranged.wakeAt, createAt, agenda.nextTurn(now), releaseAt, finalizerAt, status.keep(view, said));
    },
    /** The same of a DaemonSet that is being deleted: its pods go through their hook, and nothing else is begun. */
    async depart(current: AdvancedView, signal: AbortSignal): Promise<number | undefined> {
      if (!current.deleted) return undefined;
      const target = await finder.find(current, signal);
      signal.throwIfAborted();
      const now = clock.now();
      const view = status.seen(current);
      const blocked = finder.blocked();
      const turns = agenda.turns({ ...current, hash: undefined, blocked: blocked !== undefined }, true, now);
      const looked = turns.map((name) => look(view, name, undefined, now));
      tendAll(looked, (kept) => (blocked ? NEVER : farewell.tend(view, kept)));
      const finalizerAt = blocked ? NEVER : farewell.keep(current, creator.inFlight() === 0);
      const awaited = farewell.awaited();
      const common = { view, sums: shares.sums, hash: undefined, refusal: undefined, decision: undefined };
      const statusAt = status.keep(view, statusOf({ ...common, blocked, awaited, now }));
      const obstacleAt = target.kind === 'held' ? target.recheckAt : NEVER;
      return Math.min(agenda.nextTurn(now), finalizerAt, statusAt, obstacleAt);
    },
    async stop(graceMs: number): Promise<void> {
      const parts = [creator, chores, status, strays, farewell];
      await Promise.all(parts.map((part) => part.stop(graceMs)));
    },
  };
};
export type Upkeep = ReturnType<typeof createUpkeep>;
