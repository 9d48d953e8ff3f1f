import type { Event } from 'kubernetes-types/events/v1.d.ts';
import { backoffMs, type Env, sleep } from '../../runtime/index.ts';
import { isKubeError } from '../client/errors.ts';
import { defineResource } from '../client/resource.ts';
import type { KubeClient } from '../client/types.ts';
import { createEventSeries, type EventInput, type Series } from './event-series.ts';

export const events = defineResource<Event>({
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
});

export interface EventRecorderOptions {
  client: Pick<KubeClient, 'create' | 'patch'>;
  env: Env;
  /** A qualified name, such as `edgeset.io/manager`. */
  reportingController: string;
  /** Usually the pod's name; at most 128 characters. */
  reportingInstance: string;
  /** Events that may wait to be written; further ones are dropped. Default 1,000. */
  maxQueued?: number;
  /** Shortest time between two writes of a series; doubles with each write, up to ten minutes. Default 60,000. */
  seriesIntervalMs?: number;
}

export interface EventRecorder {
  /** Queues an event and returns; `run` writes it. */
  event(input: EventInput): void;
  /** Writes events until `signal` aborts, then what is still queued (for at most 5 s), and resolves. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when everything queued so far is written or dropped. `run` must be running. */
  flush(): Promise<void>;
  /** Events that were not written: the queue was full, the server refused them, or writing failed too often. */
  readonly dropped: number;
}

const ATTEMPTS = 5;
const BACKOFF = { baseMs: 1_000, maxMs: 30_000 };
const FINAL_FLUSH_MS = 5_000;

/** Records Kubernetes Events. It never blocks its caller, and drops events rather than queue without bound. */
export const createEventRecorder = (options: EventRecorderOptions): EventRecorder => {
  const { client, env, maxQueued = 1_000 } = options;
  const series = createEventSeries({
    env,
    reportingController: options.reportingController,
    reportingInstance: options.reportingInstance,
    intervalMs: options.seriesIntervalMs ?? 60_000,
    onDue: (one) => enqueue(one),
  });
  const queue = new Set<Series>();
  let dropped = 0;
  let busy = false;
  let wake: (() => void) | undefined;
  const flushing = new Set<() => void>();

  const enqueue = (one: Series): void => {
    if (!queue.has(one) && queue.size >= maxQueued) {
      if (!one.written) series.forget(one);
      drop('the queue is full', one);
      return;
    }
    queue.add(one);
    wake?.();
  };

  const drop = (why: string, one: Series, error?: unknown): void => {
    dropped += 1;
    env.log.warn(`dropped an Event: ${why}`, {
      reason: one.object.reason,
      namespace: one.namespace,
      name: one.object.regarding?.name,
      ...(error === undefined ? {} : { error }),
    });
  };

  const writeOnce = async (one: Series, signal: AbortSignal): Promise<void> => {
    const call = { signal, timeoutMs: 10_000 };
    const written = series.snapshot(one);
    if (one.written) {
      try {
        const ref = { namespace: one.namespace, name: one.name };
        await client.patch(events, ref, { series: written.series }, { type: 'merge', ...call });
        series.wrote(one, written);
        return;
      } catch (error) {
        // Events expire after an hour: a series may outlive its object.
        if (!isKubeError(error, 'NotFound')) throw error;
        series.rename(one);
      }
    }
    try {
      await client.create(events, series.snapshot(one).object, call);
    } catch (error) {
      // Created by an earlier attempt whose response was lost.
      if (!isKubeError(error, 'AlreadyExists')) throw error;
    }
    series.wrote(one, written);
  };

  const write = async (one: Series, signal: AbortSignal): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await writeOnce(one, signal);
        return;
      } catch (error) {
        if (signal.aborted) throw error;
        const permanent = isKubeError(error, 'Invalid', 'BadRequest', 'Forbidden', 'NotFound');
        if (permanent || attempt >= ATTEMPTS) {
          series.forget(one);
          drop(permanent ? 'the server refused it' : 'writing failed too often', one, error);
          return;
        }
        const asked = isKubeError(error) ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
        const delay = Math.max(backoffMs(attempt, BACKOFF, env.random), Math.min(asked, BACKOFF.maxMs));
        await sleep(env.clock, delay, signal);
      }
    }
  };

  const drain = async (signal: AbortSignal): Promise<void> => {
    for (const one of queue) {
      if (signal.aborted) return;
      busy = true;
      try {
        await write(one, signal);
        queue.delete(one);
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        busy = false;
      }
    }
    if (queue.size > 0) return;
    for (const resolve of flushing) resolve();
    flushing.clear();
  };

  return {
    event: (input) => series.add(input),
    get dropped() {
      return dropped;
    },
    flush() {
      if (queue.size === 0 && !busy) return Promise.resolve();
      return new Promise((resolve) => flushing.add(resolve));
    },
    async run(signal) {
      const onAbort = (): void => wake?.();
      signal.addEventListener('abort', onAbort, { once: true });
      while (!signal.aborted) {
        await drain(signal);
        if (queue.size > 0 || signal.aborted) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = undefined;
      }
      const last = new AbortController();
      const timer = env.clock.timer(FINAL_FLUSH_MS, () => last.abort(new Error('stopped')));
      series.stop();
      await drain(last.signal);
      timer.cancel();
      for (const resolve of flushing) resolve();
      flushing.clear();
    },
  };
};
