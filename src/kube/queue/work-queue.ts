import { type BackoffOptions, backoffMs, type Env } from '../../runtime/index.ts';
import { isKubeError } from '../client/errors.ts';
import { createTimerHeap } from './timer-heap.ts';

/** Called as things happen; must not throw. */
export interface WorkQueueMetrics {
  /** Keys that wait for a worker now. */
  depth?(keys: number): void;
  added?(): void;
  /** How long a key waited for its worker. */
  waited?(seconds: number): void;
  worked?(seconds: number, result: 'success' | 'requeue_after' | 'error'): void;
  retried?(): void;
}

export interface WorkQueueOptions {
  env: Env;
  /** Keys processed at once. */
  concurrency: number;
  /**
   * Brings one key in order. An error is logged and retried with backoff; success forgets the key's failures. The signal
   * is that of `run`.
   */
  process: (key: string, signal: AbortSignal) => Promise<{ requeueAt?: number } | void>;
  /** A key's own delay after an error. Default: 0.2 s doubling to 60 s. */
  backoff?: BackoffOptions;
  metrics?: WorkQueueMetrics;
}

export interface WorkQueue {
  /** Soon. A key that waits already is not added twice; one that is being processed runs once more afterwards. */
  add(key: string): void;
  /** Not before `timeMs` (milliseconds since the epoch). Of several times for a key the earliest is kept. */
  addAt(key: string, timeMs: number): void;
  /** Keys that wait for a worker. */
  readonly depth: number;
  /** Works until `signal` aborts, then lets what is being processed end, and resolves. Keys added before are not lost. */
  run(signal: AbortSignal): Promise<void>;
}

/** Keys to be brought in order: each at most once at a time, first come first served. */
export const createWorkQueue = (options: WorkQueueOptions): WorkQueue => {
  const { env, concurrency, process, metrics = {} } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new RangeError(`concurrency must be a whole number of 1 or more, not ${concurrency}`);
  const backoff = options.backoff ?? { baseMs: 200, maxMs: 60_000 };
  /** Keys and when they were added; a Map keeps the order of arrival. */
  const waiting = new Map<string, number>();
  const active = new Set<string>();
  /** Active keys that must run again, and since when. */
  const again = new Map<string, number>();
  const failures = new Map<string, number>();
  let running: { signal: AbortSignal; idle: () => void } | undefined;
  let started = false;
  let pumpAsked = false;

  const enqueue = (key: string, since: number): void => {
    waiting.set(key, since);
    metrics.added?.();
    metrics.depth?.(waiting.size);
    askPump();
  };

  const add = (key: string): void => {
    if (waiting.has(key)) return;
    const now = env.clock.now();
    if (!active.has(key)) enqueue(key, now);
    else if (!again.has(key)) again.set(key, now);
  };

  const deadlines = createTimerHeap(env.clock, add);

  // Not within `add`: the caller finishes what it is doing before any processing starts.
  const askPump = (): void => {
    if (pumpAsked || running === undefined) return;
    pumpAsked = true;
    queueMicrotask(() => {
      pumpAsked = false;
      pump();
    });
  };

  const pump = (): void => {
    const signal = running?.signal;
    if (signal === undefined) return;
    for (const [key, since] of waiting) {
      if (signal.aborted || active.size >= concurrency) return;
      waiting.delete(key);
      active.add(key);
      metrics.depth?.(waiting.size);
      metrics.waited?.((env.clock.now() - since) / 1000);
      void work(key, signal);
    }
  };

  const work = async (key: string, signal: AbortSignal): Promise<void> => {
    const startedAt = env.clock.now();
    let result: 'success' | 'requeue_after' | 'error' = 'success';
    try {
      const outcome = await process(key, signal);
      failures.delete(key);
      if (outcome?.requeueAt !== undefined) {
        result = 'requeue_after';
        deadlines.set(key, outcome.requeueAt);
      }
    } catch (error) {
      result = 'error';
      retryLater(key, error, signal);
    }
    metrics.worked?.((env.clock.now() - startedAt) / 1000, result);
    active.delete(key);
    const since = again.get(key);
    again.delete(key);
    if (since !== undefined) enqueue(key, since);
    pump();
    if (running?.signal.aborted && active.size === 0) running.idle();
  };

  const retryLater = (key: string, error: unknown, signal: AbortSignal): void => {
    if (signal.aborted) return;
    const count = (failures.get(key) ?? 0) + 1;
    failures.set(key, count);
    const asked = isKubeError(error) ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    const delay = Math.max(backoffMs(count, backoff, env.random), Math.min(asked, backoff.maxMs));
    env.log.warn('processing failed', { key, error, failures: count, retryMs: Math.round(delay) });
    metrics.retried?.();
    deadlines.set(key, env.clock.now() + delay);
  };

  return {
    add,
    addAt: (key, timeMs) => (timeMs <= env.clock.now() ? add(key) : deadlines.set(key, timeMs)),
    get depth() {
      return waiting.size;
    },
    run(signal) {
      if (started) return Promise.reject(new Error('this work queue is already running'));
      started = true;
      return new Promise((resolve) => {
        const idle = (): void => {
          running = undefined;
          deadlines.stop();
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
