import type { WriteOutcome } from '../pod-writes.ts';
import { createInFlightWrites, type InFlightWritesOptions, type WriteResult } from './in-flight-writes.ts';

/** Writes to the pods of one DaemonSet, in the background. Those without a clear answer and refused ones are retried with back-off. */
export const createPodWriter = (options: InFlightWritesOptions) => {
  const writes = createInFlightWrites(options);
  return {
    isFull: writes.isFull,
    drain: writes.drain,
    /**
     * Starts a write. Returns when to try again, epoch ms; Infinity if a call of `onWriteDone` comes first. `then` handles the
     * outcome, and may return what it means for the next write with this key.
     */
    start: (
      key: string,
      write: (signal: AbortSignal) => Promise<WriteOutcome>,
      then: (outcome: WriteOutcome, signal: AbortSignal) => WriteResult | undefined,
    ): number =>
      writes.start(key, async (signal) => {
        const outcome = await write(signal);
        const result = then(outcome, signal);
        if (result !== undefined) return result;
        if (outcome.kind === 'unsure' || outcome.kind === 'refused') return 'failed';
        return 'succeeded';
      }),
  };
};
