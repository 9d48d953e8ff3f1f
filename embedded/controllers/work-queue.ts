import { type BackoffOptions, backoffMs, type Env, type Timer } from '../../src/runtime/index.ts';
import type { Informers } from './informers.ts';

// The defaults of client-go's exponential rate limiter.
const BACKOFF: BackoffOptions = { baseMs: 5, maxMs: 1_000_000 };

export interface WorkQueue {
  add(key: string): void;
  /** The earliest pending time of a key wins. */
  addAfter(key: string, delayMs: number): void;
}

export interface WorkQueueOptions {
  env: Env;
  /** For the log. */
  name: string;
  /** The queue stops while they are paused. */
  informers: Informers;
  /** Called again with back-off if it throws. */
  process: (key: string) => void;
  /**
   * Minimum milliseconds between the starts of two syncs of a key; changes in between share one sync. Default 0. If set, a
   * key also rests for twice the time that its sync took, so that one that is slow here leaves the thread to others.
   */
  spacingMs?: () => number;
}

const REST_PER_SYNC = 2;

/** Processes keys one at a time, each in its own turn of the clock; a key that is queued twice is processed once. */
export const createWorkQueue = ({
  env,
  name,
  informers,
  process,
  spacingMs = () => 0,
}: WorkQueueOptions): WorkQueue => {
  const { clock, log } = env;
  const waiting = new Set<string>();
  const failures = new Map<string, number>();
  /** When the keys that were processed recently may be processed again. */
  const restUntil = new Map<string, number>();
  /** Keys to be added when their rest has ended. */
  const resting = new Set<string>();
  const later = new Map<string, { at: number; timer: Timer }>();
  let turning = false;

  const turn = (): void => {
    turning = false;
    if (informers.paused) return;
    const [key] = waiting;
    if (key === undefined) return;
    waiting.delete(key);
    const startedAt = clock.now();
    const spacing = spacingMs();
    if (spacing > 0) restUntil.set(key, startedAt + spacing);
    try {
      process(key);
      failures.delete(key);
    } catch (error) {
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      const delayMs = backoffMs(count, BACKOFF);
      log.debug('sync failed, retrying', { controller: name, key, delayMs, error });
      queue.addAfter(key, delayMs);
    }
    const now = clock.now();
    // On a virtual clock, a sync takes no time.
    if (spacing > 0) restUntil.set(key, Math.max(startedAt + spacing, now + REST_PER_SYNC * (now - startedAt)));
    schedule();
  };
  const schedule = (): void => {
    if (turning || waiting.size === 0 || informers.paused) return;
    turning = true;
    clock.timer(informers.slowMs, turn);
  };

  const queue: WorkQueue = {
    add(key) {
      if (waiting.has(key)) return;
      const rest = (restUntil.get(key) ?? 0) - clock.now();
      if (rest > 0) {
        // One timer covers all additions until then.
        if (!resting.has(key))
          clock.timer(rest, () => {
            resting.delete(key);
            queue.add(key);
          });
        resting.add(key);
        return;
      }
      restUntil.delete(key);
      waiting.add(key);
      schedule();
    },
    addAfter(key, delayMs) {
      const at = clock.now() + delayMs;
      const known = later.get(key);
      if (known && known.at <= at) return;
      known?.timer.cancel();
      const timer = clock.timer(delayMs, () => {
        later.delete(key);
        queue.add(key);
      });
      later.set(key, { at, timer });
    },
  };
  informers.onResume(schedule);
  return queue;
};
