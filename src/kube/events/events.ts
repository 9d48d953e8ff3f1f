import type { Event } from 'kubernetes-types/core/v1.d.ts';
import { backoffMs, type Env, sleep, untilAborted } from '../../runtime/index.ts';
import { isKubeError } from '../client/errors.ts';
import { defineResource } from '../client/resource.ts';
import type { KubeClient } from '../client/types.ts';
import { createSeatQueue } from '../queue/seats.ts';
import { createEventSeries, type EventInput, type Series } from './event-series.ts';

/**
 * Of the core group: `kubectl describe` sorts Events by the older timestamps, which events.k8s.io/v1, a view of the same
 * objects, refuses to write.
 */
export const events = defineResource<Event>({
  group: '',
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

/** Namespaces written to at the same time, without slow ones. */
const WRITERS = 8;
const SLOW_MS = 2_000;

/**
 * Records Kubernetes Events. It never blocks its caller, and drops events rather than queue without bound. Each namespace has
 * its own queue: one whose writes hang or fail delays no other, and once too many events wait it loses its own.
 */
export const createEventRecorder = (options: EventRecorderOptions): EventRecorder => {
  const { client, env, maxQueued = 1_000 } = options;
  const series = createEventSeries({
    env,
    reportingController: options.reportingController,
    reportingInstance: options.reportingInstance,
    intervalMs: options.seriesIntervalMs ?? 60_000,
    onDue: (one) => enqueue(one),
  });
  const queues = new Map<string, Set<Series>>();
  /** By namespace. */
  const writers = new Map<string, Promise<void>>();
  const seats = createSeatQueue({ clock: env.clock, total: WRITERS, perGroup: 1, slowMs: SLOW_MS });
  let queued = 0;
  let dropped = 0;
  let running: AbortSignal | undefined;
  const flushing = new Set<() => void>();

  const remove = (one: Series): void => {
    const queue = queues.get(one.namespace);
    if (!queue?.delete(one)) return;
    queued -= 1;
    if (queue.size === 0) queues.delete(one.namespace);
  };

  const overflow = (one: Series): void => {
    if (!one.written) series.forget(one);
    drop('the queue is full', one);
  };

  const enqueue = (one: Series): void => {
    const queue = queues.get(one.namespace) ?? new Set();
    if (!queue.has(one)) {
      if (queued >= maxQueued) {
        const longest = [...queues.values()].reduce((a, b) => (b.size > a.size ? b : a), queue);
        const last = [...longest].at(-1);
        if (longest === queue || last === undefined) {
          overflow(one);
          return;
        }
        remove(last);
        overflow(last);
      }
      queues.set(one.namespace, queue.add(one));
      queued += 1;
    }
    startWriter(one.namespace);
  };

  const drop = (why: string, one: Series, error?: unknown): void => {
    dropped += 1;
    env.log.warn(`dropped an Event: ${why}`, {
      reason: one.object.reason,
      namespace: one.namespace,
      name: one.object.involvedObject.name,
      ...(error === undefined ? {} : { error }),
    });
  };

  const writeOnce = async (one: Series, signal: AbortSignal): Promise<void> => {
    const call = { signal, timeoutMs: 10_000 };
    const written = series.snapshot(one);
    if (one.written) {
      try {
        const ref = { namespace: one.namespace, name: one.name };
        await client.patch(events, ref, written.repeated, { type: 'merge', ...call });
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

  const drain = async (namespace: string, signal: AbortSignal): Promise<void> => {
    const leave = await seats.acquire(namespace, signal);
    try {
      for (const one of queues.get(namespace) ?? []) {
        await write(one, signal);
        remove(one);
      }
    } finally {
      leave();
    }
  };

  const startWriter = (namespace: string): void => {
    const signal = running;
    if (signal === undefined || signal.aborted || writers.has(namespace)) return;
    const ended = (): void => {
      writers.delete(namespace);
      // Added after the last look.
      if (queues.has(namespace)) startWriter(namespace);
      if (queued > 0) return;
      for (const resolve of flushing) resolve();
      flushing.clear();
    };
    const failed = (error: unknown): void => {
      if (!signal.aborted) env.log.error('writing Events failed unexpectedly', { namespace, error });
    };
    writers.set(namespace, drain(namespace, signal).catch(failed).then(ended));
  };

  /** Writes until the signal aborts, or until nothing is queued. */
  const writeAll = async (signal: AbortSignal, done: () => Promise<unknown>): Promise<void> => {
    running = signal;
    for (const namespace of queues.keys()) startWriter(namespace);
    await done();
    while (writers.size > 0) await Promise.all(writers.values());
  };

  return {
    event: (input) => series.add(input),
    get dropped() {
      return dropped;
    },
    flush() {
      if (queued === 0) return Promise.resolve();
      return new Promise((resolve) => flushing.add(resolve));
    },
    async run(signal) {
      await writeAll(signal, () => untilAborted(signal));
      const last = new AbortController();
      const timer = env.clock.timer(FINAL_FLUSH_MS, () => last.abort(new Error('stopped')));
      running = last.signal;
      series.stop();
      await writeAll(last.signal, () => Promise.resolve());
      timer.cancel();
      for (const resolve of flushing) resolve();
      flushing.clear();
    },
  };
};
