import { compareVersions, type KubeClient } from '../kube/index.ts';
import { type Decision, type Ledger, newAct } from '../rollout/index.ts';
import type { Clock } from '../runtime/index.ts';
import type { Actor } from './actor.ts';
import type { Announcer } from './announcer.ts';
import type { ImageAsker } from './image-asker.ts';
import type { Keeper } from './keeper.ts';
import type { DaemonSetView } from './kind.ts';
import type { Means } from './means.ts';
import { createPacing, turnAfter } from './pacing.ts';
import { rollBack } from './rollback.ts';
import type { Teller } from './tell.ts';

/** Slots that become free within this time are reserved with one write. */
const WAVE_EVERY_MS = 100;

export interface PursuitOptions<V extends DaemonSetView> {
  client: KubeClient;
  clock: Clock;
  ledger: Ledger;
  keeper: Keeper;
  actor: Actor;
  announcer: Announcer;
  asker: ImageAsker;
  teller: Teller;
  means: Pick<Means<V, unknown>, 'putTemplate'>;
}

/** Does what was decided: at once in the ledger, through the actor on pods, by a patch where a template is put back. */
export const createPursuit = <V extends DaemonSetView>(options: PursuitOptions<V>) => {
  const { client, clock, ledger, keeper, actor, announcer, asker, teller, means } = options;
  let waveAt = Number.NEGATIVE_INFINITY;
  /** Our own write to the DaemonSet, until the watch has delivered it. */
  let awaited: { resourceVersion: string } | undefined;
  const rollbackPacing = createPacing();

  const rollBackTo = async (to: { name: string; hash: string }, view: V, signal: AbortSignal): Promise<void> => {
    const { target } = ledger.state;
    if (!target || awaited || rollbackPacing.until(to.hash, clock.now()) > clock.now()) return;
    const outcome = await rollBack(client, means, view, target.hash, to, signal);
    switch (outcome.kind) {
      case 'done':
        awaited = { resourceVersion: outcome.resourceVersion };
        teller.rolledBack(target.name, to.name);
        break;
      case 'impossible':
        ledger.amend({ lastComplete: undefined }, clock.now());
        teller.rollbackImpossible(to.name);
        break;
      case 'failed':
        if (outcome.reason !== undefined) teller.rollbackRefused(to.name, outcome.reason, outcome.message);
        rollbackPacing.failed(to.hash, clock.now());
        break;
      case 'changed':
        // The watch will deliver what it is now.
        rollbackPacing.failed(to.hash, clock.now());
        break;
    }
  };

  return {
    /** The watch is behind a write of our own to the DaemonSet. */
    awaitsWatch: (): boolean => awaited !== undefined,
    delivered(view: Pick<V, 'resourceVersion'>): void {
      if (awaited && (compareVersions(view.resourceVersion, awaited.resourceVersion) ?? 0) >= 0) awaited = undefined;
    },

    /** Carries out one decision; true when it changed what the next one is made from. */
    async carryOut({ actions }: Decision, view: V, signal: AbortSignal): Promise<boolean> {
      const now = clock.now();
      const mayReserve = now >= turnAfter(waveAt, WAVE_EVERY_MS, now);
      let changed = false;
      let rollbackTo: { name: string; hash: string } | undefined;
      for (const action of actions) {
        switch (action.type) {
          case 'halt':
            ledger.amend({ halted: action.halt }, now);
            changed = true;
            break;
          case 'resume':
            ledger.forgive(now);
            ledger.amend({ halted: undefined, resumed: action.value }, now);
            changed = true;
            break;
          case 'complete': {
            const { target } = ledger.state;
            ledger.amend({ finishedAt: now, lastComplete: target && { name: target.name, hash: target.hash } }, now);
            changed = true;
            break;
          }
          case 'rollback':
            rollbackTo = action.to;
            break;
          case 'announce':
            announcer.announce();
            break;
          case 'ask':
            asker.ask(action.node);
            break;
          case 'unask':
            asker.unask(action.node);
            break;
          case 'delete':
          case 'change':
          case 'surge':
            actor.carryOut(action.node, action.type);
            break;
          case 'retire':
            actor.retire(action.node, action.pod);
            break;
          case 'release':
            if (action.fence) actor.fence(action.node);
            else {
              ledger.release(action.node, now);
              changed = true;
            }
            break;
          case 'reserve':
            if (!mayReserve) break;
            ledger.reserve(action.node, newAct(action, ledger.state.rollout, now), now);
            keeper.reserved();
            waveAt = now;
            changed = true;
            break;
        }
      }
      if (rollbackTo) await rollBackTo(rollbackTo, view, signal);
      return changed;
    },

    /** When what this decision leaves undone may be done; Infinity when nothing is left. */
    nextTryAt({ actions }: Decision): number {
      const now = clock.now();
      const times = actions.map((action) => {
        if (action.type === 'announce') return announcer.nextTryAt();
        if (action.type === 'ask' || action.type === 'unask') return asker.nextTryAt(action.node);
        if (action.type === 'reserve') return turnAfter(waveAt, WAVE_EVERY_MS, now);
        const until =
          action.type === 'rollback'
            ? rollbackPacing.until(action.to.hash, now)
            : action.type === 'retire'
              ? actor.retireAt(action.node, action.pod)
              : 0;
        return until > now ? until : Number.POSITIVE_INFINITY;
      });
      return times.reduce((least, time) => Math.min(least, time), actor.nextTryAt());
    },
  };
};
export type Pursuit<V extends DaemonSetView> = ReturnType<typeof createPursuit<V>>;
