import { type Announcement, type Ledger, livePod, type PodFacts } from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import { createAir } from './air.ts';
import { updateKnownPod } from './learn-pod.ts';
import type { ControllerMetrics } from './observer.ts';
import { createPacing } from './pacing.ts';
import type { PodControl } from './pod-control.ts';
import type { RolloutEvents } from './rollout-events.ts';

/**
 * Patches of one DaemonSet in the air at once. How many go out a second is bounded by the client, whose limit is shared
 * in turn: so few at a time do not keep the acts of other DaemonSets waiting.
 */
const MOST_IN_AIR = 16;

export interface AnnouncerOptions {
  env: Env;
  ledger: Ledger;
  acts: Pick<PodControl, 'announce' | 'read'>;
  events: RolloutEvents;
  metrics: ControllerMetrics;
  /** Called when a patch ended: time to decide again. */
  ended: () => void;
}

/** Brings the pods' condition PodNeedUpgrade to what it should say: each by itself, so that none waits for another. */
export const createAnnouncer = ({ env, ledger, acts, events, metrics, ended }: AnnouncerOptions) => {
  const { clock, log } = env;
  /** By the pod's UID, as all that is kept here. */
  const pacing = createPacing({ firstMs: 1_000, longestMs: 60_000 });
  const air = createAir({
    clock,
    most: MOST_IN_AIR,
    ended,
    failed(uid, error) {
      log.error('an announcement failed unexpectedly', { pod: uid, error });
      pacing.failed(uid, clock.now());
    },
  });

  /** Pods whose last patch may have been carried out unseen, by UID. */
  const unsure = new Set<string>();

  const write = async (pod: PodFacts, wanted: Announcement | 'none', signal: AbortSignal): Promise<void> => {
    // A watch that is behind does not tell what became of it; asking does, and a second patch is none that changes nothing.
    const isAsked = unsure.has(pod.uid);
    const outcome = isAsked
      ? await acts.read({ podName: pod.name, podUid: pod.uid }, signal)
      : await acts.announce(pod, wanted, signal);
    if (outcome.kind === 'unsure') unsure.add(pod.uid);
    else unsure.delete(pod.uid);
    const revision = wanted === 'none' ? '' : wanted.revision;
    const now = clock.now();
    if (!isAsked)
      metrics.podWritten?.(outcome.kind === 'done' ? (wanted === 'none' ? 'withdrawn' : 'announced') : outcome.kind);
    switch (outcome.kind) {
      case 'done':
        pacing.succeeded(pod.uid);
        // So that it is not written again before the watch tells of it.
        if (outcome.pod) updateKnownPod(ledger, outcome.pod, now);
        break;
      case 'gone':
        pacing.succeeded(pod.uid);
        ledger.removePod(pod.uid, now);
        break;
      case 'changed':
        if (!isAsked) pacing.failed(pod.uid, now);
        updateKnownPod(ledger, outcome.pod, now);
        break;
      case 'later':
        pacing.failed(pod.uid, now);
        break;
      case 'unsure':
      case 'refused':
        pacing.failed(pod.uid, now);
        if (signal.aborted) break;
        log.warn('condition PodNeedUpgrade could not be written', {
          node: pod.node,
          pod: pod.name,
          error: outcome.message,
        });
        if (outcome.kind === 'refused' && outcome.reason !== undefined)
          events.announceRefused(pod.name, pod.node, revision, outcome.reason, outcome.message);
        break;
    }
  };

  return {
    /** Writes to as many pods as may be written to at once; `ended` is called as each of them has been. */
    announce(): void {
      const now = clock.now();
      for (const record of ledger.unannounced()) {
        if (air.isFull()) return;
        const { announcement } = record.status.owner;
        const facts = livePod(record)?.facts;
        if (!announcement || !facts || air.has(facts.uid) || pacing.until(facts.uid, now) > now) continue;
        air.launch(facts.uid, (signal) => write(facts, announcement, signal));
      }
    },
    /** When the earliest paced pod may be tried again; Infinity when none waits. */
    nextTryAt(): number {
      let least = Number.POSITIVE_INFINITY;
      if (pacing.size === 0) return least;
      const now = clock.now();
      for (const { pods } of ledger.unannounced())
        for (const { facts } of pods) {
          const until = pacing.until(facts.uid, now);
          if (until > now) least = Math.min(least, until);
        }
      return least;
    },
    /** Begins nothing further, and resolves when nothing is in the air: after `graceMs` no answer is waited for. */
    stop: (graceMs: number): Promise<void> => air.stop(graceMs),
  };
};
export type Announcer = ReturnType<typeof createAnnouncer>;
