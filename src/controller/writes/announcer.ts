import { type Announcement, type Ledger, livePod, type PodFacts } from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import type { RolloutEvents } from '../events/rollout-events.ts';
import type { ControllerMetrics, Enqueue } from '../kind-adapter.ts';
import type { PodControl } from '../pod-writes.ts';
import { createConditionWriter } from './condition-writer.ts';

/**
 * Patches of one DaemonSet in flight at the same time. The client limits how many go out per second and shares that
 * between DaemonSets, so this few don't delay the updates of others.
 */
const MAX_IN_FLIGHT = 16;

export interface AnnouncerOptions {
  env: Env;
  ledger: Ledger;
  podControl: Pick<PodControl, 'announce' | 'read'>;
  events: RolloutEvents;
  metrics: ControllerMetrics;
  /** Called when a patch has ended: time to reconcile again. */
  onWriteDone: Enqueue;
}

/** Keeps condition PodNeedUpgrade of the pods up to date. */
export const createAnnouncer = ({ env, ledger, podControl, events, metrics, onWriteDone }: AnnouncerOptions) => {
  const writer = createConditionWriter({
    env,
    condition: 'PodNeedUpgrade',
    limit: MAX_IN_FLIGHT,
    onWriteDone,
  });
  /** UIDs of pods whose last patch got no response. */
  const unsure = new Set<string>();

  const start = (pod: PodFacts, wanted: Announcement | 'none'): number => {
    const { uid: podUid, name: podName, node } = pod;
    // A watch that is behind doesn't show whether the lost patch was applied; a read does, and costs no needless write.
    const isRead = unsure.has(podUid);
    const done = wanted === 'none' ? 'withdrawn' : 'announced';
    return writer.start(pod, {
      write: (signal) =>
        isRead ? podControl.read({ podName, podUid }, signal) : podControl.announce(pod, wanted, signal),
      refused: (reason, message) =>
        events.announceRefused(podName, node, wanted === 'none' ? '' : wanted.revision, reason, message),
      ended({ kind }) {
        if (kind === 'unsure') unsure.add(podUid);
        else unsure.delete(podUid);
        if (!isRead) metrics.podWritten?.(kind === 'done' ? done : kind);
        if (kind === 'changed') return isRead ? 'unchanged' : 'failed';
        return undefined;
      },
    });
  };

  return {
    /**
     * Writes to as many pods as the limit allows. Returns when to try again, epoch ms; Infinity if a call of `onWriteDone`
     * comes first.
     */
    announce(): number {
      let nextAttemptAt = Number.POSITIVE_INFINITY;
      for (const record of ledger.unannounced()) {
        if (writer.isFull()) break;
        const { announcement } = record.status.owner;
        const pod = livePod(record)?.facts;
        if (announcement && pod) nextAttemptAt = Math.min(nextAttemptAt, start(pod, announcement));
      }
      return nextAttemptAt;
    },
    drain: writer.drain,
  };
};
