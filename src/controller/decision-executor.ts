import { compareVersions, type KubeClient } from '../kube/index.ts';
import { type Decision, type Ledger, newUpdate } from '../rollout/index.ts';
import type { Clock } from '../runtime/index.ts';
import type { Announcer } from './announcer.ts';
import type { ImageRequester } from './image-requester.ts';
import type { Keeper } from './keeper.ts';
import type { DaemonSetView } from './kind.ts';
import type { KindAdapter } from './kind-adapter.ts';
import { createPacing, turnAfter } from './pacing.ts';
import type { PodUpdates } from './pod-updates.ts';
import { rollBack } from './rollback.ts';
import type { RolloutEvents } from './rollout-events.ts';

/** Slots that become free within this time are reserved with one write. */
const WAVE_EVERY_MS = 100;

export interface DecisionExecutorOptions<V extends DaemonSetView> {
  client: KubeClient;
  clock: Clock;
  ledger: Ledger;
  keeper: Keeper;
  podUpdates: PodUpdates;
  announcer: Announcer;
  imageRequester: ImageRequester;
  events: RolloutEvents;
  adapter: Pick<KindAdapter<V, unknown>, 'restoreTemplate'>;
}

/** Does what was decided: at once in the ledger, through the podUpdates on pods, by a patch where a template is put back. */
export const createDecisionExecutor = <V extends DaemonSetView>(options: DecisionExecutorOptions<V>) => {
  const { client, clock, ledger, keeper, podUpdates, announcer, imageRequester, events, adapter } = options;
  let waveAt = Number.NEGATIVE_INFINITY;
  /** Our own write to the DaemonSet, until the watch has delivered it. */
  let awaited: { resourceVersion: string } | undefined;
  const rollbackPacing = createPacing();

  const rollBackTo = async (to: { name: string; hash: string }, view: V, signal: AbortSignal): Promise<void> => {
    const { target } = ledger.state;
    if (!target || awaited || rollbackPacing.until(to.hash, clock.now()) > clock.now()) return;
    const outcome = await rollBack(client, adapter, view, target.hash, to, signal);
    switch (outcome.kind) {
      case 'done':
        awaited = { resourceVersion: outcome.resourceVersion };
        events.rolledBack(target.name, to.name);
        break;
      case 'impossible':
        ledger.patchState({ lastComplete: undefined }, clock.now());
        events.rollbackImpossible(to.name);
        break;
      case 'failed':
        if (outcome.reason !== undefined) events.rollbackRefused(to.name, outcome.reason, outcome.message);
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
            ledger.patchState({ halted: action.halt }, now);
            changed = true;
            break;
          case 'resume':
            ledger.forgive(now);
            ledger.patchState({ halted: undefined, resumed: action.value }, now);
            changed = true;
            break;
          case 'complete': {
            const { target } = ledger.state;
            ledger.patchState(
              { finishedAt: now, lastComplete: target && { name: target.name, hash: target.hash } },
              now,
            );
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
            imageRequester.request(action.node);
            break;
          case 'unask':
            imageRequester.withdraw(action.node);
            break;
          case 'delete':
          case 'change':
          case 'surge':
            podUpdates.carryOut(action.node, action.type);
            break;
          case 'retire':
            podUpdates.retire(action.node, action.pod);
            break;
          case 'release':
            if (action.fence) podUpdates.fence(action.node);
            else {
              ledger.release(action.node, now);
              changed = true;
            }
            break;
          case 'reserve':
            if (!mayReserve) break;
            ledger.reserve(action.node, newUpdate(action, ledger.state.rollout, now), now);
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
        if (action.type === 'ask' || action.type === 'unask') return imageRequester.nextTryAt(action.node);
        if (action.type === 'reserve') return turnAfter(waveAt, WAVE_EVERY_MS, now);
        const until =
          action.type === 'rollback'
            ? rollbackPacing.until(action.to.hash, now)
            : action.type === 'retire'
              ? podUpdates.retireAt(action.node, action.pod)
              : 0;
        return until > now ? until : Number.POSITIVE_INFINITY;
      });
      return times.reduce((least, time) => Math.min(least, time), podUpdates.nextTryAt());
    },
  };
};
export type DecisionExecutor<V extends DaemonSetView> = ReturnType<typeof createDecisionExecutor<V>>;
