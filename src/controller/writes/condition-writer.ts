import type { PodFacts } from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import type { Enqueue } from '../kind-adapter.ts';
import type { WriteOutcome } from '../pod-writes.ts';
import { createInFlightWrites, resultOf, type WriteResult } from './in-flight-writes.ts';

export interface ConditionWriterOptions {
  env: Env;
  condition: string;
  /** Patches of one DaemonSet in flight at the same time. */
  limit: number;
  /** Called when a patch has ended: time to reconcile again. */
  onWriteDone: Enqueue;
}

export interface ConditionWrite {
  write: (signal: AbortSignal) => Promise<WriteOutcome>;
  /** The API server refuses it, for this reason. */
  refused: (reason: string, message: string) => void;
  /** Handles the outcome, and may return what it means for the next write to the pod. */
  ended: (outcome: WriteOutcome) => WriteResult | undefined;
}

/** Writes one condition of pods, each pod by itself, so that none waits for another. */
export const createConditionWriter = ({ env, condition, limit, onWriteDone }: ConditionWriterOptions) => {
  const { clock, log } = env;
  const writes = createInFlightWrites({
    clock,
    limit,
    backoff: { baseMs: 1_000, maxMs: 60_000 },
    onWriteDone,
    failed: (uid, error) => log.error(`writing condition ${condition} failed unexpectedly`, { pod: uid, error }),
  });
  return {
    isFull: writes.isFull,
    drain: writes.drain,
    /** Returns when to try again, epoch ms; Infinity if a call of `onWriteDone` comes first. */
    start: (pod: PodFacts, { write, refused, ended }: ConditionWrite): number =>
      writes.start(pod.uid, async (signal) => {
        const outcome = await write(signal);
        if ((outcome.kind === 'unsure' || outcome.kind === 'refused') && !signal.aborted) {
          log.warn(`failed to write condition ${condition}`, { node: pod.node, pod: pod.name, error: outcome.message });
          if (outcome.kind === 'refused' && outcome.reason !== undefined) refused(outcome.reason, outcome.message);
        }
        return ended(outcome) ?? resultOf(outcome);
      }),
  };
};
