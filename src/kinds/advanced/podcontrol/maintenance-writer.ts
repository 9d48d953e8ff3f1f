import { createInFlightWrites, updateKnownPod, type WriteOutcome } from '../../../controller/index.ts';
import { compareVersions } from '../../../kube/index.ts';
import type { Ledger, PodFacts } from '../../../rollout/index.ts';
import type { Env } from '../../../runtime/index.ts';
import type { CachedPod } from './cached-pod.ts';

const CONCURRENT_WRITES = 32;
/** How long the cache may take to show a confirmed write. Then the pod is written to regardless. */
const OBSERVED_WITHIN_MS = 15_000;

export interface MaintenanceWriterOptions {
  env: Env;
  /** Receives the pods that the API server returns. */
  ledger: Pick<Ledger, 'get' | 'setPod'>;
  /** Requests a reconcile. */
  enqueue: () => void;
}

export interface MaintenanceWriter {
  /** When the pod in this version may be written to, epoch ms; a time in the past for at once. */
  nextWriteAt: (cached: CachedPod) => number;
  /** Starts a write, unless one to the pod is in flight or `nextWriteAt` is in the future. */
  start(
    pod: CachedPod,
    write: (signal: AbortSignal) => Promise<WriteOutcome>,
    onOutcome?: (outcome: WriteOutcome) => void,
  ): void;
  /** The latest state of a cached pod, from responses that may be newer than the cache. */
  latest(cached: PodFacts): PodFacts;
  forget(uid: string): void;
  drain: (graceMs: number) => Promise<void>;
}

/** Writes to pods that need no slot of the budget: one at a time for each pod, and none based on a stale cache. */
export const createMaintenanceWriter = ({ env, ledger, enqueue }: MaintenanceWriterOptions): MaintenanceWriter => {
  const { clock, log } = env;
  /** By UID: the cache is stale until it shows a version that `isCurrent` accepts, or until `expiresAt`. */
  const staleUntil = new Map<string, { isCurrent: (version: string) => boolean; expiresAt: number }>();
  /** UIDs of pods that the API server no longer has and the cache still shows. */
  const gone = new Set<string>();
  const writes = createInFlightWrites({
    clock,
    limit: CONCURRENT_WRITES,
    onWriteDone: enqueue,
    failed: (uid, error) => log.error('a write to a pod failed unexpectedly', { uid, error }),
  });

  const record = (uid: string, version: string, outcome: WriteOutcome): void => {
    const now = clock.now();
    const returned = 'pod' in outcome ? outcome.pod : undefined;
    if (returned) updateKnownPod(ledger, returned, now);
    if (outcome.kind === 'gone') gone.add(uid);
    // Nothing was written: the pod may need another write meanwhile.
    if (outcome.kind !== 'later' && outcome.kind !== 'refused') {
      // The cache may first show earlier writes of others: those versions are stale as well.
      const isCurrent = (cached: string): boolean =>
        cached !== version && (!returned || (compareVersions(cached, returned.resourceVersion) ?? 0) >= 0);
      staleUntil.set(uid, { isCurrent, expiresAt: now + OBSERVED_WITHIN_MS });
    }
    if (outcome.kind === 'unsure') log.warn('lost the response to a write to a pod', { uid, error: outcome.message });
  };

  const nextWriteAt = ({ facts: { uid, resourceVersion } }: CachedPod): number => {
    const stale = staleUntil.get(uid);
    return Math.max(writes.nextAttemptAt(uid), stale && !stale.isCurrent(resourceVersion) ? stale.expiresAt : 0);
  };

  return {
    nextWriteAt,
    start(pod, write, onOutcome) {
      const { uid, resourceVersion } = pod.facts;
      if (nextWriteAt(pod) > clock.now()) return;
      writes.start(uid, async (signal) => {
        const outcome = await write(signal);
        // Aborted on shutdown: the next leader finds out what became of the write.
        if (signal.aborted) return 'unchanged';
        record(uid, resourceVersion, outcome);
        onOutcome?.(outcome);
        return outcome.kind === 'unsure' || outcome.kind === 'refused' ? 'failed' : 'succeeded';
      });
    },
    latest(cached) {
      const { uid, node } = cached;
      const facts = ledger.get(node)?.pods.find((pod) => pod.facts.uid === uid)?.facts ?? cached;
      return gone.has(uid) ? { ...facts, terminating: true } : facts;
    },
    forget(uid) {
      gone.delete(uid);
      staleUntil.delete(uid);
      writes.forget(uid);
    },
    drain: (graceMs) => writes.drain(graceMs),
  };
};
