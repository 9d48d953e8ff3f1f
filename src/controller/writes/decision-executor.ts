import type { KubeClient } from '../../kube/index.ts';
import {
  afterStageAction,
  type Decision,
  type Ledger,
  milestonesOf,
  newUpdate,
  withoutFailedChecks,
} from '../../rollout/index.ts';
import { type Env, nextAllowedAt } from '../../runtime/index.ts';
import type { RolloutEvents } from '../events/rollout-events.ts';
import type { DaemonSetView } from '../kind.ts';
import type { ControllerMetrics, Enqueue, KindAdapter, ReconcilerContext } from '../kind-adapter.ts';
import type { PodControl } from '../pod-writes.ts';
import type { RolloutStore } from '../status/rollout-store.ts';
import { createAnnouncer } from './announcer.ts';
import { createImageRequester } from './image-requester.ts';
import { createPodUpdates } from './pod-updates.ts';
import { createRollback } from './rollback.ts';

/** Slots that become free within this time are reserved with one write. */
export const RESERVE_INTERVAL_MS = 100;

export interface DecisionExecutorOptions<V extends DaemonSetView> {
  client: KubeClient;
  env: Env;
  ledger: Ledger;
  store: Pick<RolloutStore, 'reserve' | 'mustWrite'>;
  podControl: PodControl;
  adapter: Pick<KindAdapter<V, unknown>, 'podWrites' | 'restoreTemplate'>;
  accept: ReconcilerContext<V, unknown>['accept'];
  events: RolloutEvents;
  metrics: ControllerMetrics;
  /** Called when a write to a pod has ended: time to reconcile again. */
  onWriteDone: Enqueue;
}

export interface Execution {
  /** The ledger or the DaemonSet has changed: the next decision may differ. */
  changed: boolean;
  /** When the rest of the decision may be executed, epoch ms; Infinity when nothing is left. */
  nextAttemptAt: number;
}

/** Executes decisions: in the ledger at once, on pods in the background, on the DaemonSet by a rollback. */
export const createDecisionExecutor = <V extends DaemonSetView>(options: DecisionExecutorOptions<V>) => {
  const { client, env, ledger, store, podControl, adapter, accept, events, metrics, onWriteDone } = options;
  const { clock, log } = env;
  const podUpdates = createPodUpdates({ env, ledger, podWrites: adapter.podWrites, events, metrics, onWriteDone });
  const announcer = createAnnouncer({ env, ledger, podControl, events, metrics, onWriteDone });
  const imageRequester = createImageRequester({ env, ledger, podControl, events, onWriteDone });
  const rollback = createRollback({ client, clock, ledger, events, adapter, accept });
  let reservedAt = Number.NEGATIVE_INFINITY;

  /** Releases in the ledger the reserved updates of which nothing was sent. Returns whether there were any. */
  const releaseUnsent = ({ actions }: Pick<Decision, 'actions'>): boolean => {
    const nodes = actions.flatMap((action) => (action.type === 'release' && !action.fence ? [action.node] : []));
    for (const node of nodes) ledger.noteEvent(node, 'released', clock.now());
    return nodes.length > 0;
  };

  return {
    releaseUnsent,

    async execute({ actions, summary }: Decision, view: V, signal: AbortSignal): Promise<Execution> {
      const now = clock.now();
      const reserveAt = nextAllowedAt(reservedAt, RESERVE_INTERVAL_MS, now);
      let changed = releaseUnsent({ actions });
      let nextAttemptAt = Number.POSITIVE_INFINITY;
      const tryAgainAt = (time: number): void => {
        nextAttemptAt = Math.min(nextAttemptAt, time);
      };
      let rollbackTo: { name: string; hash: string } | undefined;
      const reached = milestonesOf(ledger, summary, now);
      if (reached) ledger.patchState(reached, now);
      for (const action of actions) {
        log.debug('decided', {
          action: action.type,
          because: action.because,
          ...('node' in action && { node: action.node }),
        });
        switch (action.type) {
          case 'halt':
            ledger.patchState({ halted: action.halt }, now);
            changed = true;
            break;
          case 'resume':
            ledger.forgive(now);
            ledger.patchState(
              {
                halted: undefined,
                resumed: action.value,
                stages: withoutFailedChecks(ledger.state.stages),
                driftForgiven: ledger.state.driftForgiven || summary.drift.length > 0,
              },
              now,
            );
            changed = true;
            break;
          case 'end-halt':
            ledger.patchState({ halted: undefined }, now);
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
          case 'open-stage':
          case 'start-soak':
          case 'end-soak':
          case 'promote':
            ledger.patchState({ stages: afterStageAction(ledger.state.stages, action, ledger.planTime(now)) }, now);
            store.mustWrite();
            changed = true;
            break;
          case 'rollback':
            rollbackTo = action.to;
            break;
          case 'announce':
            tryAgainAt(announcer.announce());
            break;
          case 'request-images':
            tryAgainAt(imageRequester.request(action.node));
            break;
          case 'cancel-images':
            tryAgainAt(imageRequester.withdraw(action.node));
            break;
          case 'delete':
          case 'update-in-place':
          case 'surge':
            tryAgainAt(podUpdates.update(action.node, action.type, action.because));
            break;
          case 'delete-old':
            tryAgainAt(podUpdates.deleteOld(action.node, action.pod));
            break;
          case 'release':
            if (action.fence) tryAgainAt(podUpdates.fence(action.node));
            break;
          case 'reserve':
            if (now < reserveAt) {
              tryAgainAt(reserveAt);
              break;
            }
            store.reserve(action.node, newUpdate(action, ledger.state.rollout, now), now);
            reservedAt = now;
            changed = true;
            break;
        }
      }
      if (rollbackTo) {
        const attempt = await rollback.run(rollbackTo, view, signal);
        changed ||= attempt.changed;
        tryAgainAt(attempt.nextAttemptAt);
      }
      return { changed, nextAttemptAt };
    },

    /**
     * Resolves when no write is in flight; waits at most this long for responses. Those to announcements have a time of
     * their own.
     */
    async drain(graceMs: number, announcementsGraceMs: number): Promise<void> {
      await Promise.all([
        podUpdates.drain(graceMs),
        announcer.drain(announcementsGraceMs),
        imageRequester.drain(graceMs),
      ]);
    },
  };
};
