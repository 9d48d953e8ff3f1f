import { type Clock, createPace } from '../../runtime/index.ts';
import type { When } from '../kind-adapter.ts';

/**
 * The update of one node causes some ten events: a reconcile for each would be most of the cost of a rollout. Those of
 * a second may be ahead, so that what ends a short burst is seen at once.
 */
const INTERVAL_MS = 50;
const MOST_EARLY = 20;
/** Those that no decision waits for are late instead: one in two intervals. */
const LATE = -1;

/** When one DaemonSet may be reconciled. */
export interface ReconcilePace {
  /** Epoch ms; a time in the past for at once. */
  nextAt(when: When): number;
  done(): void;
}

export const createReconcilePace = (clock: Pick<Clock, 'now'>): ReconcilePace => {
  const pace = createPace(clock, INTERVAL_MS, MOST_EARLY);
  return {
    nextAt: (when) => pace.nextAt(when === 'soon' ? LATE : MOST_EARLY),
    done: () => pace.done(),
  };
};
