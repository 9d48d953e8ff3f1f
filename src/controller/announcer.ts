import { type Announcement, type Ledger, livePod, type PodFacts } from '../rollout/index.ts';
import { type Env, sleep } from '../runtime/index.ts';
import type { ControllerObserver } from './observer.ts';
import { createPacing } from './pacing.ts';
import type { PodActs } from './pod-acts.ts';
import type { Teller } from './tell.ts';

/**
 * Patches of one DaemonSet in the air at once. How many go out a second is bounded by the client, whose limit is shared
 * in turn: so few at a time do not keep the acts of other DaemonSets waiting.
 */
const MOST_IN_AIR = 16;

export interface AnnouncerOptions {
  env: Env;
  ledger: Ledger;
  acts: Pick<PodActs, 'announce'>;
  teller: Teller;
  observe: ControllerObserver;
  /** Called when a patch ended: time to decide again. */
  ended: () => void;
}

/** Brings the pods' condition PodNeedUpgrade to what it should say: each by itself, so that none waits for another. */
export const createAnnouncer = ({ env, ledger, acts, teller, observe, ended }: AnnouncerOptions) => {
  const { clock, log } = env;
  /** By the pod's UID, as all that is kept here. */
  const inAir = new Map<string, Promise<void>>();
  const pacing = createPacing({ firstMs: 1_000, longestMs: 60_000 });
  let term = new AbortController();

  const write = async (pod: PodFacts, wanted: Announcement | 'none', signal: AbortSignal): Promise<void> => {
    const outcome = await acts.announce(pod, wanted, signal);
    const revision = wanted === 'none' ? '' : wanted.revision;
    const now = clock.now();
    observe.acted?.(outcome.kind === 'done' ? (wanted === 'none' ? 'withdrawn' : 'announced') : outcome.kind);
    switch (outcome.kind) {
      case 'done':
        pacing.succeeded(pod.uid);
        // So that it is not written again before the watch tells of it.
        if (outcome.pod) ledger.setPod(outcome.pod, now);
        break;
      case 'gone':
        pacing.succeeded(pod.uid);
        ledger.removePod(pod.uid, now);
        break;
      case 'changed':
      case 'unsure':
      case 'refused':
        pacing.failed(pod.uid, now);
        if (outcome.kind === 'changed' || signal.aborted) break;
        log.warn('condition PodNeedUpgrade could not be written', {
          node: pod.node,
          pod: pod.name,
          error: outcome.message,
        });
        if (outcome.kind === 'refused' && outcome.reason !== undefined)
          teller.announceFailed(pod.name, pod.node, revision, outcome.reason, outcome.message);
        break;
    }
  };

  const launch = (pod: PodFacts, wanted: Announcement | 'none'): void => {
    const running = write(pod, wanted, term.signal)
      .catch((error: unknown) => {
        log.error('an announcement failed unexpectedly', { node: pod.node, error });
        pacing.failed(pod.uid, clock.now());
      })
      .finally(() => {
        inAir.delete(pod.uid);
        ended();
      });
    inAir.set(pod.uid, running);
  };

  const settled = async (): Promise<void> => {
    while (inAir.size > 0) await Promise.all(inAir.values());
  };

  return {
    /** Writes to as many pods as may be written to at once; `ended` is called as each of them has been. */
    announce(): void {
      const now = clock.now();
      for (const record of ledger.unannounced()) {
        if (inAir.size >= MOST_IN_AIR) return;
        const { announce } = record.view;
        const facts = livePod(record)?.facts;
        if (!announce || !facts || inAir.has(facts.uid) || pacing.until(facts.uid, now) > now) continue;
        launch(facts, announce);
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
    async stop(graceMs: number): Promise<void> {
      const ending = term;
      term = new AbortController();
      const done = new AbortController();
      const giveUp = (): void => ending.abort(new Error('the controller writes no more'));
      if (graceMs <= 0) giveUp();
      else if (inAir.size > 0) sleep(clock, graceMs, done.signal).then(giveUp, () => undefined);
      await settled();
      done.abort();
    },
  };
};
export type Announcer = ReturnType<typeof createAnnouncer>;
