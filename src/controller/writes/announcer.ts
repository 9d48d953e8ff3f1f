import { type Announcement, type Ledger, livePod, type PodFacts } from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import type { RolloutEvents } from '../events/rollout-events.ts';
import type { ControllerMetrics, Enqueue } from '../kind-adapter.ts';
import type { PodControl, WriteOutcome } from '../pod-writes.ts';
import type { WriteResult } from './in-flight-writes.ts';
import { createPodWriter } from './pod-writer.ts';

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

/** Keeps condition PodNeedUpgrade of the pods up to date: each pod by itself, so that none waits for another. */
export const createAnnouncer = ({ env, ledger, podControl, events, metrics, onWriteDone }: AnnouncerOptions) => {
  const { clock, log } = env;
  const writer = createPodWriter({
    clock,
    limit: MAX_IN_FLIGHT,
    backoff: { baseMs: 1_000, maxMs: 60_000 },
    onWriteDone,
    failed: (uid, error) => log.error('an announcement failed unexpectedly', { pod: uid, error }),
  });
  /** UIDs of pods whose last patch got no response. */
  const unsure = new Set<string>();

  const start = (pod: PodFacts, wanted: Announcement | 'none'): number => {
    const { uid: podUid, name: podName, node } = pod;
    // A watch that is behind doesn't show whether the lost patch was applied; a read does, and costs no needless write.
    const isRead = unsure.has(podUid);

    const record = (outcome: WriteOutcome, signal: AbortSignal): WriteResult | undefined => {
      if (outcome.kind === 'unsure') unsure.add(podUid);
      else unsure.delete(podUid);
      if (!isRead)
        metrics.podWritten?.(outcome.kind === 'done' ? (wanted === 'none' ? 'withdrawn' : 'announced') : outcome.kind);
      if (outcome.kind === 'changed') return isRead ? 'unchanged' : 'failed';
      if ((outcome.kind !== 'unsure' && outcome.kind !== 'refused') || signal.aborted) return undefined;
      log.warn('failed to write condition PodNeedUpgrade', { node, pod: podName, error: outcome.message });
      if (outcome.kind === 'refused' && outcome.reason !== undefined) {
        const revision = wanted === 'none' ? '' : wanted.revision;
        events.announceRefused(podName, node, revision, outcome.reason, outcome.message);
      }
      return undefined;
    };

    const write = (signal: AbortSignal): Promise<WriteOutcome> =>
      isRead ? podControl.read({ podName, podUid }, signal) : podControl.announce(pod, wanted, signal);
    return writer.start(podUid, write, record);
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
