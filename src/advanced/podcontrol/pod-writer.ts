import { type Air, createAir, createPacing, updateKnownPod, type WriteOutcome } from '../../controller/index.ts';
import { compareVersions } from '../../kube/index.ts';
import type { Ledger, PodFacts } from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import type { CachedPod } from './cached-pod.ts';

/** Writes to pods under way at once. */
const MOST_IN_AIR = 32;
/** A write that was confirmed and that the watch has not shown for so long is looked at anew. */
const SHOWN_WITHIN_MS = 15_000;

export interface PodWriterOptions {
  env: Env;
  /** Is told what answers say of pods. */
  ledger: Pick<Ledger, 'get' | 'setPod'>;
  /** Asks for a pass. */
  enqueue: () => void;
}

/** Writes to pods that no slot is needed for: one at a time for a pod, and none on what the watch still shows of before. */
export const createPodWriter = ({ env, ledger, enqueue }: PodWriterOptions) => {
  const { clock, log } = env;
  const pacing = createPacing();
  /** By UID: what the watch has to get past before the pod is written to again; not after `until`. */
  const waits = new Map<string, { isPast: (version: string) => boolean; until: number }>();
  /** UIDs of pods that the API server has no more, and the watch still shows. */
  const gone = new Set<string>();
  const air: Air = createAir({
    clock,
    most: MOST_IN_AIR,
    ended: enqueue,
    failed(uid, error) {
      log.error('a write to a pod failed unexpectedly', { uid, error });
      pacing.failed(uid, clock.now());
    },
  });

  const learn = (uid: string, version: string, outcome: WriteOutcome): void => {
    const now = clock.now();
    if ('pod' in outcome && outcome.pod) updateKnownPod(ledger, outcome.pod, now);
    if (outcome.kind === 'gone') gone.add(uid);
    if (outcome.kind === 'unsure' || outcome.kind === 'refused') pacing.failed(uid, now);
    else pacing.succeeded(uid);
    // What waits for somebody else is for whoever asked: the pod may need another write meanwhile.
    if (outcome.kind !== 'later' && outcome.kind !== 'refused') {
      // Others may have written before us: what they wrote is shown first, and is still of before our write.
      const left = 'pod' in outcome ? outcome.pod?.resourceVersion : undefined;
      const isPast = (shown: string): boolean =>
        shown !== version && (left === undefined || (compareVersions(shown, left) ?? 0) >= 0);
      waits.set(uid, { isPast, until: now + SHOWN_WITHIN_MS });
    }
    if (outcome.kind === 'unsure') log.warn('the answer to a write to a pod was lost', { uid, error: outcome.message });
  };

  return {
    /** When the pod of this version may be written to; a time that is past for at once. */
    turnOf({ facts: { uid, resourceVersion } }: CachedPod): number {
      const wait = waits.get(uid);
      return Math.max(pacing.until(uid, clock.now()), wait && !wait.isPast(resourceVersion) ? wait.until : 0);
    },
    /** Begins a write, unless one to the pod is under way, or its turn has not come. `then` is told what came of it. */
    launch(
      kept: CachedPod,
      write: (signal: AbortSignal) => Promise<WriteOutcome>,
      then?: (outcome: WriteOutcome) => void,
    ): void {
      const { uid, resourceVersion } = kept.facts;
      if (this.turnOf(kept) > clock.now()) return;
      air.launch(uid, async (signal) => {
        const outcome = await write(signal);
        // Given up because we write no more: whoever comes next finds out.
        if (signal.aborted) return;
        learn(uid, resourceVersion, outcome);
        then?.(outcome);
      });
    },
    /** What is known of a pod that the watch shows so: answers may have said more, which it has not shown yet. */
    newest(shown: PodFacts): PodFacts {
      const { uid, node } = shown;
      const facts = ledger.get(node)?.pods.find((pod) => pod.facts.uid === uid)?.facts ?? shown;
      return gone.has(uid) ? { ...facts, terminating: true } : facts;
    },
    forget(uid: string): void {
      gone.delete(uid);
      waits.delete(uid);
      pacing.succeeded(uid);
    },
    stop: (graceMs: number): Promise<void> => air.stop(graceMs),
  };
};
export type PodWriter = ReturnType<typeof createPodWriter>;
