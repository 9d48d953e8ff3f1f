import { type BackoffOptions, backoffMs, type Env } from '../../runtime/index.ts';
import { isKubeError } from '../client/errors.ts';
import { splitKey } from '../client/resource.ts';
import { TURN_MS } from '../turn.ts';
import { createSeats } from './seats.ts';
import { createTimerHeap } from './timer-heap.ts';

/** Callbacks for metrics. They must not throw. */
export interface WorkQueueMetrics {
  /** Keys waiting for a worker. */
  depth?(keys: number): void;
  added?(): void;
  /** How long a key waited for a worker. */
  waited?(seconds: number): void;
  worked?(seconds: number, result: 'success' | 'requeue_after' | 'error'): void;
  retried?(): void;
}

export interface WorkQueueOptions {
  env: Env;
  /** Keys processed in parallel, without slow ones: see `createSeats`. */
  concurrency: number;
  /** Keys of one group processed in parallel, slow or not. Default: `concurrency`. */
  perGroup?: number;
  /** The group of a key. Default: its namespace. */
  groupOf?: (key: string) => string;
  /**
   * Reconciles one key. An error is logged and retried with back-off, and nothing that asks for the key before that makes it
   * earlier; success resets the key's failures. The signal is the one passed to `run`.
   */
  process: (key: string, signal: AbortSignal) => Promise<{ requeueAt?: number } | void>;
  /** Per-key back-off after errors. Default: 0.2 s, doubling to 60 s. */
  backoff?: BackoffOptions;
  metrics?: WorkQueueMetrics;
}

export interface WorkQueue {
  /** Adds a key unless it is already waiting. A key that is being processed is processed once more afterwards. */
  add(key: string): void;
  /** Adds a key at `timeMs` (milliseconds since the epoch). The earliest of several times counts. */
  addAt(key: string, timeMs: number): void;
  /** Adds a key whose failures have had a cause that has changed: it need not wait for their back-off. */
  retry(key: string): void;
  /** Keys waiting for a worker. */
  readonly depth: number;
  /** Processes keys, including those added before, until `signal` aborts; resolves when running work has finished. */
  run(signal: AbortSignal): Promise<void>;
}

/** Work that takes longer keeps no worker from other groups. */
const SLOW_MS = 2_000;

/**
 * A work queue as in client-go: first in, first out, and each key is processed at most once at a time. Keys whose group has
 * as many workers as it may have are passed over.
 */
export const createWorkQueue = (options: WorkQueueOptions): WorkQueue => {
  const { env, concurrency, process, metrics = {}, perGroup = concurrency } = options;
  const { groupOf = (key) => splitKey(key).namespace ?? '' } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new RangeError(`concurrency must be a whole number of 1 or more, not ${concurrency}`);
  const backoff = options.backoff ?? { baseMs: 200, maxMs: 60_000 };
  const seats = createSeats({
    clock: env.clock,
    total: concurrency,
    perGroup,
    slowMs: SLOW_MS,
    onRoom: () => schedulePump(),
  });
  /** Waiting keys in order of arrival, with the time they were added. */
  const waiting = new Map<string, number>();
  const active = new Set<string>();
  /** Keys that were added while they were being processed, with the time of that. */
  const readded = new Map<string, number>();
  /** How often in a row a key has failed, and when it may be tried again. */
  const failing = new Map<string, { failures: number; retryAt: number }>();
  let running: { signal: AbortSignal; idle: () => void } | undefined;
  let started = false;
  let pumpScheduled = false;
  /** Since when keys have been processed without a turn for anything else, as far as one can tell. */
  let turnBegan = env.clock.now();

  const enqueue = (key: string, since: number): void => {
    waiting.set(key, since);
    metrics.added?.();
    metrics.depth?.(waiting.size);
    schedulePump();
  };

  const add = (key: string): void => {
    if (waiting.has(key)) return;
    const now = env.clock.now();
    const retryAt = failing.get(key)?.retryAt ?? now;
    if (active.has(key)) {
      if (!readded.has(key)) readded.set(key, now);
      // Farther away only if the clock was set back.
    } else if (retryAt > now && retryAt <= now + backoff.maxMs) timers.set(key, retryAt);
    else enqueue(key, now);
  };

  const timers = createTimerHeap(env.clock, add);

  const addAt = (key: string, timeMs: number): void => (timeMs <= env.clock.now() ? add(key) : timers.set(key, timeMs));

  // Not synchronously in `add`: the caller finishes its own work before processing starts.
  const schedulePump = (): void => {
    if (pumpScheduled || running === undefined) return;
    pumpScheduled = true;
    const next = (): void => {
      pumpScheduled = false;
      pump();
    };
    const now = env.clock.now();
    // Work that waits for nothing would continue from microtask to microtask.
    if (waiting.size > 1 && now - turnBegan > TURN_MS) {
      env.clock.timer(0, () => {
        turnBegan = env.clock.now();
        next();
      });
      return;
    }
    if (active.size === 0 && waiting.size <= 1) turnBegan = now;
    queueMicrotask(next);
  };

  const pump = (): void => {
    const signal = running?.signal;
    if (signal === undefined) return;
    for (const [key, since] of waiting) {
      if (signal.aborted) return;
      const leave = seats.take(groupOf(key));
      if (leave === undefined) {
        if (seats.isFull()) return;
        continue;
      }
      waiting.delete(key);
      active.add(key);
      metrics.depth?.(waiting.size);
      metrics.waited?.((env.clock.now() - since) / 1000);
      void work(key, signal).finally(leave);
    }
  };

  const work = async (key: string, signal: AbortSignal): Promise<void> => {
    const startedAt = env.clock.now();
    let result: 'success' | 'requeue_after' | 'error' = 'success';
    try {
      const outcome = await process(key, signal);
      failing.delete(key);
      if (outcome?.requeueAt !== undefined) {
        result = 'requeue_after';
        timers.set(key, outcome.requeueAt);
      }
    } catch (error) {
      result = 'error';
      retryLater(key, error, signal);
    }
    metrics.worked?.((env.clock.now() - startedAt) / 1000, result);
    active.delete(key);
    const since = readded.get(key);
    readded.delete(key);
    // After a failure its retry is due anyway.
    if (since !== undefined && !failing.has(key)) enqueue(key, since);
    if (running?.signal.aborted && active.size === 0) running.idle();
  };

  const retryLater = (key: string, error: unknown, signal: AbortSignal): void => {
    if (signal.aborted) return;
    const asked = isKubeError(error) ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    // A server that says when to come back is busy, and is not to be avoided for longer each time.
    const failures = (failing.get(key)?.failures ?? 0) + (asked > 0 ? 0 : 1);
    const delay = Math.max(backoffMs(failures, backoff, env.random), Math.min(asked, backoff.maxMs));
    const retryAt = env.clock.now() + delay;
    failing.set(key, { failures, retryAt });
    env.log.warn('processing failed', { key, error, failures, retryMs: Math.round(delay) });
    metrics.retried?.();
    timers.set(key, retryAt);
  };

  return {
    add,
    addAt,
    retry(key) {
      failing.delete(key);
      add(key);
    },
    get depth() {
      return waiting.size;
    },
    run(signal) {
      if (started) return Promise.reject(new Error('this work queue is already running'));
      started = true;
      return new Promise((resolve) => {
        const idle = (): void => {
          running = undefined;
          timers.stop();
          resolve();
        };
        running = { signal, idle };
        const onAbort = (): void => {
          if (active.size === 0) idle();
        };
        if (signal.aborted) onAbort();
        else signal.addEventListener('abort', onAbort, { once: true });
        pump();
      });
    },
  };
};
