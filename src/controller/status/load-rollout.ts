import type { Clock } from '../../runtime/index.ts';
import type { RolloutEvents } from '../events/rollout-events.ts';
import { RolloutObjectError } from './daemon-rollout.ts';
import type { RolloutStore } from './rollout-store.ts';

/** The garbage collector gets this long before an Event reports an object that is in the way. */
const COLLECTION_TIMEOUT_MS = 30_000;
const COLLECTION_CHECK_MS = 5_000;

/**
 * Reads the DaemonRollout. Undefined: it is ours; otherwise when to look again, since one of an earlier DaemonSet wakes us when it is
 * removed.
 */
export const createRolloutLoader = (
  store: Pick<RolloutStore, 'load'>,
  events: Pick<RolloutEvents, 'rolloutNotOurs'>,
  clock: Pick<Clock, 'now'>,
) => {
  /** Since when a DaemonRollout of another DaemonSet has been in the way. */
  let blockedSince: number | undefined;
  return async (signal: AbortSignal): Promise<number | undefined> => {
    try {
      await store.load(signal);
      blockedSince = undefined;
      return undefined;
    } catch (error) {
      if (!(error instanceof RolloutObjectError) || error.code !== 'NotOurs') throw error;
      const now = clock.now();
      blockedSince = Math.min(blockedSince ?? now, now);
      if (now - blockedSince >= COLLECTION_TIMEOUT_MS) events.rolloutNotOurs();
      return now + COLLECTION_CHECK_MS;
    }
  };
};
