import { createInFlightWrites, type WriteOutcome } from '../../../controller/index.ts';
import type { Env } from '../../../runtime/index.ts';
import type { CachedPod } from './cached-pod.ts';

const CONCURRENT_WRITES = 32;

export interface MaintenanceWriterOptions {
  env: Env;
  /** Requests a reconcile. */
  enqueue: () => void;
}

export interface MaintenanceWriter {
  /** When the pod may be written to, epoch ms; a time in the past for at once. */
  nextWriteAt: (cached: CachedPod) => number;
  /** Starts a write, unless one to the pod is in flight or `nextWriteAt` is in the future. */
  start(
    pod: CachedPod,
    write: (signal: AbortSignal) => Promise<WriteOutcome>,
    onOutcome?: (outcome: WriteOutcome) => void,
  ): void;
  forget(uid: string): void;
  drain: (graceMs: number) => Promise<void>;
}

/** Writes to pods that need no slot of the budget: one at a time for each pod. */
export const createMaintenanceWriter = ({ env, enqueue }: MaintenanceWriterOptions): MaintenanceWriter => {
  const { clock, log } = env;
  const writes = createInFlightWrites({
    clock,
    limit: CONCURRENT_WRITES,
    onWriteDone: enqueue,
    failed: (uid, error) => log.error('a write to a pod failed unexpectedly', { uid, error }),
  });

  /** When the pod may be written to, epoch ms; a time in the past for at once. */
  const nextWriteAt = ({ facts: { uid } }: CachedPod): number => writes.nextAttemptAt(uid);

  return {
    nextWriteAt,
    start({ facts: { uid } }, write, onOutcome) {
      writes.start(uid, async (signal) => {
        const outcome = await write(signal);
        // Aborted on shutdown: the next leader finds out what became of the write.
        if (signal.aborted) return 'unchanged';
        if (outcome.kind === 'unsure')
          log.warn('lost the response to a write to a pod', { uid, error: outcome.message });
        onOutcome?.(outcome);
        return outcome.kind === 'unsure' || outcome.kind === 'refused' ? 'failed' : 'succeeded';
      });
    },
    forget: (uid) => writes.forget(uid),
    drain: (graceMs) => writes.drain(graceMs),
  };
};
