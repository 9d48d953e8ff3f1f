import type { Ledger, PodFacts } from '../../rollout/index.ts';
import type { PodIdentity, WriteOutcome } from '../pod-writes.ts';
import { createInFlightWrites, type InFlightWritesOptions, type WriteResult } from './in-flight-writes.ts';

/**
 * Updates the ledger with what a response says about a pod. A response may arrive after the watch has reported that the
 * pod is gone, which it never reports again: a pod that the ledger does not know stays unknown.
 */
export const updateKnownPod = (ledger: Pick<Ledger, 'get' | 'setPod'>, pod: PodFacts, now: number): void => {
  const known = ledger.get(pod.node)?.pods.some(({ facts }) => facts.uid === pod.uid);
  if (known) ledger.setPod(pod, now);
};

export interface PodWriterOptions extends InFlightWritesOptions {
  ledger: Pick<Ledger, 'get' | 'setPod' | 'removePod' | 'decisive'>;
}

/**
 * Writes to the pods of one DaemonSet, in the background. Every response updates the ledger, so that nothing is written
 * twice while the watch is behind; writes without a clear answer and refused ones are retried with back-off.
 */
export const createPodWriter = ({ ledger, ...options }: PodWriterOptions) => {
  const writes = createInFlightWrites(options);
  const { clock } = options;
  return {
    has: writes.has,
    isFull: writes.isFull,
    drain: writes.drain,
    /**
     * Starts a write. Returns when to try again, epoch ms; Infinity if a call of `onWriteDone` comes first. `then` handles the
     * outcome, and may return what it means for the next write with this key.
     */
    start: (
      key: string,
      pod: PodIdentity,
      write: (signal: AbortSignal) => Promise<WriteOutcome>,
      then: (outcome: WriteOutcome, signal: AbortSignal) => WriteResult | undefined,
    ): number =>
      writes.start(key, async (signal) => {
        const outcome = await write(signal);
        const now = clock.now();
        const { decisive } = ledger;
        if (outcome.kind === 'gone') ledger.removePod(pod.podUid, now);
        else if ('pod' in outcome && outcome.pod) updateKnownPod(ledger, outcome.pod, now);
        const result = then(outcome, signal);
        if (result !== undefined) return result;
        if (outcome.kind === 'unsure' || outcome.kind === 'refused') return 'failed';
        return outcome.kind === 'done' && ledger.decisive === decisive ? 'finished' : 'succeeded';
      }),
  };
};
