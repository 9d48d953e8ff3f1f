import type { Pass, Surroundings, Touched } from '../../controller/index.ts';
import { controllerOf } from '../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { createAgenda } from './agenda.ts';
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

export interface UpkeepOptions extends Surroundings<AdvancedView, KeptPod> {
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
  const { env, nodes, finder, chores, creator, care } = options;
  const { clock } = env;
  const agenda = createAgenda(options);
  const shares = createShares();
  const status = createStatusKeeper(options);
  const arranger = createArranger({ ...options, agenda, shares });
  const farewell = createFarewell(options);
  const strays = createStrays(options);
  const natives = new Set<string>();

  const touched: Touched<KeptPod> = {
    node: agenda.node,
    pod(kept) {
      const { facts, standing, pod } = kept;
      if (!agenda.pod(kept)) {
        creator.gone(kept);
        chores.forget(facts.uid);
        strays.lost(kept);
        farewell.gone(kept);
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
    const facts = ours.map((each) => each.facts);
    const { share, changesAt } = shareOf(view, node, facts, known?.target.hash, now);
    if (!node && kept.length === 0) {
      shares.set(name, undefined);
      arranger.forget(name);
      creator.forget(name);
      return { name, kept, wants: false, lookAt: NEVER };
    }
    shares.set(name, share);
    const orphans = kept.some(({ standing, facts: each }) => standing === 'orphan' && !each.terminating);
    const coming = creator.isComing(name, kept);
    if (!known || orphans || coming)
      return { name, kept, wants: false, lookAt: Math.min(changesAt, creator.lookAt(name)) };
    const wish = arranger.wishes(view, name, ours, known.target.hash, now);
    return { name, kept, wants: wish.any, lookAt: Math.min(changesAt, wish.lookAt) };
  };

  return {
    touched,
    maintain: async (pass: Pass<AdvancedView>): Promise<number> => {
      const { decision, signal } = pass;
      signal.throwIfAborted();
      const now = clock.now();
      const view = status.seen(pass.view);
      const blocked = finder.blocked();
      const known = blocked || view.deleted ? undefined : finder.known(pass.view);
      const last = finder.last();
      const hash = known?.target.hash;
      const turns = agenda.turns({ ...pass.view, hash, blocked: blocked !== undefined }, now);
      const looked = turns.map((name) => look(view, name, known, now));
      const wanting = looked.flatMap(({ name, wants }) => (wants ? [name] : []));
      const arranged = known ? arranger.arrange(pass, known, wanting, now) : { removing: noPods, wakeAt: NEVER };

      const tend = (kept: KeptPod): number | undefined => {
        if (blocked) return last ? care.finish(kept, last) : NEVER;
        if (view.deleted) return farewell.tend(view, kept);
        return care.tend(view, kept, known, arranged.removing.has(kept.facts.uid));
      };
      for (const { name, kept, wants, lookAt } of looked) {
        const times = kept.map(tend);
        const lookAgainAt = Math.min(lookAt, ...times.map((at) => at ?? NEVER));
        agenda.looked(name, lookAgainAt, wants || times.includes(undefined));
      }
      const releaseAt = blocked ? NEVER : strays.release(view);
      const goodbyeAt = blocked ? NEVER : farewell.keep(pass.view, creator.inFlight() === 0);
      const refusal = creator.refusal();
      const awaited = farewell.awaited();
      const said = statusOf({ view, decision, sums: shares.sums, hash, blocked, refusal, awaited, now });
      return Math.min(arranged.wakeAt, agenda.nextTurn(now), releaseAt, goodbyeAt, status.keep(view, said));
    },
    async stop(graceMs: number): Promise<void> {
      const parts = [creator, chores, status, strays, farewell];
      await Promise.all(parts.map((part) => part.stop(graceMs)));
    },
  };
};
export type Upkeep = ReturnType<typeof createUpkeep>;
