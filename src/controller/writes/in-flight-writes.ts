import { type BackoffOptions, type Clock, createKeyedBackoff, sleep } from '../../runtime/index.ts';
import type { Enqueue } from '../kind-adapter.ts';
import type { WriteOutcome } from '../pod-writes.ts';

/** What the end of a write means for the next one with the same key. */
export type WriteResult =
  /** It may start at once. */
  | 'succeeded'
  /** It backs off. */
  | 'failed'
  /** It backs off only if an earlier failure asked for that. */
  | 'unchanged';

/** Of a write to a pod. */
export const resultOf = ({ kind }: WriteOutcome): WriteResult =>
  kind === 'unsure' || kind === 'refused' ? 'failed' : 'succeeded';

export interface InFlightWritesOptions {
  clock: Clock;
  /** How many writes run at the same time. A hold that appears meanwhile stops all others before they are sent. */
  limit: number;
  backoff?: Partial<BackoffOptions>;
  /** Called whenever a write has ended: time to reconcile again. */
  onWriteDone: Enqueue;
  /** Called when a write rejects, before `onWriteDone`; the key backs off. */
  failed: (key: string, error: unknown) => void;
}

/**
 * Writes that run in the background: one for a key, a limited number at a time, with exponential back-off for each key,
 * and none once leadership is lost.
 */
export interface InFlightWrites {
  has: (key: string) => boolean;
  isFull: () => boolean;
  /** When the back-off of `key` ends, epoch ms; a time in the past for no back-off. */
  nextAttemptAt: (key: string) => number;
  /** Forgets the failures of `key`. */
  forget: (key: string) => void;
  /**
   * Starts a write, unless `key` backs off, has one in flight, or the limit is reached. Returns when to try again,
   * epoch ms; Infinity if a call of `onWriteDone` comes first.
   */
  start(key: string, write: (signal: AbortSignal) => Promise<WriteResult>): number;
  /**
   * Resolves when nothing is in flight. After `graceMs` it stops waiting for answers: what has not been sent by then
   * never is.
   */
  drain: (graceMs: number) => Promise<void>;
}

export const createInFlightWrites = ({
  clock,
  limit,
  backoff: options,
  onWriteDone,
  failed,
}: InFlightWritesOptions): InFlightWrites => {
  const backoff = createKeyedBackoff(options);
  const inFlight = new Map<string, Promise<void>>();
  let sending = new AbortController();

  return {
    has: (key) => inFlight.has(key),
    isFull: () => inFlight.size >= limit,
    nextAttemptAt: (key) => backoff.nextAttemptAt(key, clock.now()),
    forget: (key) => backoff.reset(key),
    start(key, write) {
      if (inFlight.has(key) || inFlight.size >= limit) return Number.POSITIVE_INFINITY;
      const now = clock.now();
      const nextAttemptAt = backoff.nextAttemptAt(key, now);
      if (nextAttemptAt > now) return nextAttemptAt;
      const record = (result: WriteResult): void => {
        if (result === 'failed') backoff.failed(key, clock.now());
        if (result === 'succeeded') backoff.reset(key);
      };
      const running = write(sending.signal)
        .then(record, (error: unknown) => {
          record('failed');
          failed(key, error);
        })
        .finally(() => {
          inFlight.delete(key);
          onWriteDone();
        });
      inFlight.set(key, running);
      return Number.POSITIVE_INFINITY;
    },
    drain: async (graceMs) => {
      const ending = sending;
      sending = new AbortController();
      const done = new AbortController();
      const giveUp = (): void => ending.abort(new Error('the controller is shutting down'));
      if (graceMs <= 0) giveUp();
      else if (inFlight.size > 0) sleep(clock, graceMs, done.signal).then(giveUp, () => undefined);
      while (inFlight.size > 0) await Promise.all(inFlight.values());
      done.abort();
    },
  };
};
