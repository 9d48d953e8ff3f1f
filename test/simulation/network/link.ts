import { KubeError } from '../../../src/kube/index.ts';
import type { Clock, Timer } from '../../../src/runtime/index.ts';

/** Receives the events of a watch. */
export interface Sink {
  push(event: unknown): void;
  fail(error: KubeError): void;
  close(): void;
}

/** One watch, from the server to a process. */
export interface Stream {
  /** An event that the server sends. */
  take(event: unknown): void;
  /** The server ends it: with an error, or because its time is up. */
  end(error: unknown): void;
  /** The process has closed it. */
  drop(): void;
}

/** What happens to a watch at its next event. */
export type StreamFault =
  /** The event is lost; delivered twice; the last one; or replaced by 410, a truncated line or a broken connection. */
  | { how: 'drop' | 'duplicate' | 'silence' | 'gone' | 'truncate' | 'reset' }
  /** This event, and those within `forMs`, are delayed, ms. */
  | { how: 'lag'; ms: number; forMs: number };

/** A process's link to the API server. Streams are addressed by the plural of their resource. */
export interface Link {
  /** One way, ms. */
  travelMs(): number;
  readonly up: boolean;
  /** Now, or once the link is restored. */
  whenUp(work: () => void): void;
  /** `onEffect` is called once the cut holds something back. */
  cut(onEffect: () => void): void;
  restore(): void;
  /** `live`: it begins with new events, without initial ones. */
  stream(plural: string, live: boolean, sink: Sink): Stream;
  /** Delays the events of these watches, ms. */
  setLag(plural: string, ms: number): void;
  /** At the next event of such a watch, after its initial events; `onEffect` is called then. */
  disturb(plural: string, fault: StreamFault, onEffect: () => void): void;
  /** Breaks all watches, as a server that stops. Returns how many. */
  breakAll(): number;
}

export interface LinkOptions {
  time: Clock;
  /** Uniform in [0, 1). */
  random: () => number;
  /** One way: this much, and up to as much again. Ms. */
  latencyMs: number;
}

/** As in the transport: a silent connection is closed after this time, and a watch without a bookmark. */
const DEAD_AFTER_MS = 30_000;
const IDLE_MS = 300_000;

const broken = (what: string): KubeError => new KubeError('Transport', what, { happened: 'no' });

interface Held {
  at: number;
  /** Undefined: the end of the stream. */
  event: unknown;
  end: (() => void) | undefined;
}

interface Open {
  plural: string;
  sink: Sink;
  queue: Held[];
  timer: Timer | undefined;
  idle: Timer | undefined;
  /** When it last delivered an event, or was opened. */
  lastEventAt: number;
  lastAt: number;
  live: boolean;
  silent: boolean;
}

export const createLink = ({ time, random, latencyMs }: LinkOptions): Link => {
  let up = true;
  let onFirstHeldBack: (() => void) | undefined;
  let waiting: (() => void)[] = [];
  let death: Timer | undefined;
  const open = new Set<Open>();
  const lags = new Map<string, number>();
  const waitingFaults = new Map<string, { fault: StreamFault; onEffect: () => void }[]>();
  const travelMs = (): number => latencyMs * (1 + random());

  const close = (stream: Open): void => {
    open.delete(stream);
    stream.timer?.cancel();
    stream.idle?.cancel();
    stream.queue = [];
  };
  const fail = (stream: Open, error: KubeError): void => {
    if (!open.has(stream)) return;
    close(stream);
    stream.sink.fail(error);
  };
  /** One timer for all events. */
  const checkIdle = (stream: Open): void => {
    const leftMs = stream.lastEventAt + IDLE_MS - time.now();
    if (leftMs <= 0) fail(stream, broken('the watch is silent'));
    else stream.idle = time.timer(leftMs, () => checkIdle(stream));
  };
  const flush = (stream: Open): void => {
    stream.timer = undefined;
    while (up && open.has(stream)) {
      const [head] = stream.queue;
      if (!head) return;
      if (head.at > time.now()) {
        stream.timer = time.timer(head.at - time.now(), () => flush(stream));
        return;
      }
      stream.queue.shift();
      if (head.end) {
        close(stream);
        head.end();
        return;
      }
      stream.lastEventAt = time.now();
      stream.sink.push(head.event);
    }
  };
  const noteHeldBack = (): void => {
    onFirstHeldBack?.();
    onFirstHeldBack = undefined;
  };
  const hold = (stream: Open, event: unknown, end?: () => void): void => {
    if (!up) noteHeldBack();
    const at = Math.max(stream.lastAt, time.now() + travelMs() + (lags.get(stream.plural) ?? 0));
    stream.lastAt = at;
    stream.queue.push({ at, event, end });
    if (!stream.timer) flush(stream);
  };

  const setLag = (plural: string, ms: number): void => void lags.set(plural, ms);
  /** Delivers an event of a healthy stream through a fault; undefined: none. */
  const deliverThrough = (stream: Open, event: unknown, fault: StreamFault | undefined): void => {
    switch (fault?.how) {
      case 'drop':
        return;
      case 'silence':
        stream.silent = true;
        return;
      case 'gone':
        return fail(stream, new KubeError('Gone', 'injected: too old resource version', { status: 410 }));
      case 'truncate':
        return fail(stream, new KubeError('Malformed', 'injected: a line is not JSON'));
      case 'reset':
        return fail(stream, broken('injected: reset'));
      case 'duplicate':
        hold(stream, event);
        return hold(stream, event);
      case 'lag':
        setLag(stream.plural, fault.ms);
        time.timer(fault.forMs, () => setLag(stream.plural, 0));
        return hold(stream, event);
      case undefined:
        return hold(stream, event);
    }
  };

  return {
    travelMs,
    get up() {
      return up;
    },
    whenUp(work) {
      if (up) {
        work();
        return;
      }
      noteHeldBack();
      waiting.push(work);
    },
    cut(onEffect) {
      onFirstHeldBack = onEffect;
      if (!up) return;
      up = false;
      death = time.timer(DEAD_AFTER_MS, () => {
        for (const stream of open) fail(stream, broken('the connection is silent'));
      });
    },
    restore() {
      if (up) return;
      up = true;
      death?.cancel();
      const late = waiting;
      waiting = [];
      for (const work of late) work();
      for (const stream of open) if (!stream.timer) flush(stream);
    },
    stream(plural, live, sink) {
      const stream: Open = {
        plural,
        sink,
        queue: [],
        timer: undefined,
        idle: undefined,
        lastEventAt: time.now(),
        lastAt: 0,
        live,
        silent: false,
      };
      open.add(stream);
      checkIdle(stream);
      return {
        take(event) {
          if (!open.has(stream) || stream.silent) return;
          const { type, initialEventsEnd } = event as { type?: string; initialEventsEnd?: boolean };
          // A lost bookmark would go unnoticed.
          const isNewEvent = stream.live && type !== 'BOOKMARK';
          if (initialEventsEnd) stream.live = true;
          const next = isNewEvent ? waitingFaults.get(plural)?.shift() : undefined;
          next?.onEffect();
          deliverThrough(stream, event, next?.fault);
        },
        end(error) {
          if (!open.has(stream) || stream.silent) return;
          hold(stream, undefined, () => {
            if (error instanceof KubeError) stream.sink.fail(error);
            else stream.sink.close();
          });
        },
        drop: () => close(stream),
      };
    },
    setLag,
    disturb(plural, fault, onEffect) {
      const faults = waitingFaults.get(plural) ?? [];
      waitingFaults.set(plural, faults);
      faults.push({ fault, onEffect });
    },
    breakAll() {
      const streams = [...open];
      for (const stream of streams) fail(stream, broken('injected: the server ended'));
      return streams.length;
    },
  };
};
