import { KubeError } from '../../../src/kube/index.ts';
import type { Clock, Timer } from '../../../src/runtime/index.ts';

/** Where a watch's events go. */
export interface Sink {
  push(event: unknown): void;
  fail(error: KubeError): void;
  close(): void;
}

/** One watch on its way to a process. */
export interface Stream {
  /** An event that the server sends. */
  take(event: unknown): void;
  /** The server ends it: with an error, or as it does from time to time. */
  end(error: unknown): void;
  /** The process has let it go. */
  drop(): void;
}

/** What becomes of a watch from its next event on. */
export type StreamFault =
  /** The event is lost; it comes twice; nor does anything come after it; an answer 410, a broken line or connection instead. */
  | { how: 'drop' | 'duplicate' | 'silence' | 'gone' | 'truncate' | 'reset' }
  /** It and those of so long after it come so much later, ms. */
  | { how: 'lag'; ms: number; forMs: number };

/** A process's way to the API server. What is done to streams is done by the plural of their resource. */
export interface Link {
  /** One way, ms. */
  travelMs(): number;
  readonly up: boolean;
  /** At once, or when the link is back. */
  whenUp(work: () => void): void;
  /** `met` is called once something is held back by it. */
  cut(onEffect: () => void): void;
  restore(): void;
  /** `live`: it begins with what is new, and not with what is there. */
  stream(plural: string, live: boolean, sink: Sink): Stream;
  /** Events of these watches come so much later, ms. */
  setLag(plural: string, ms: number): void;
  /** Waits for the next event of such a watch, past what it begins with; `met` is called then. */
  disturb(plural: string, fault: StreamFault, onEffect: () => void): void;
  /** All watches end, as when the server does. Returns how many. */
  breakAll(): number;
}

export interface LinkOptions {
  time: Clock;
  /** Uniform in [0, 1). */
  random: () => number;
  /** Of one way: so much, and up to as much again. Ms. */
  latencyMs: number;
}

/** As the transport does: a connection that brings nothing for so long is torn down, and a watch without a bookmark. */
const DEAD_AFTER_MS = 30_000;
const IDLE_MS = 300_000;

const broken = (what: string): KubeError => new KubeError('Transport', what, { happened: 'no' });

interface Held {
  at: number;
  /** Undefined: the end. */
  event: unknown;
  end: (() => void) | undefined;
}

interface Open {
  plural: string;
  sink: Sink;
  queue: Held[];
  timer: Timer | undefined;
  idle: Timer | undefined;
  /** When it brought something, or was opened. */
  heardAt: number;
  lastAt: number;
  live: boolean;
  silent: boolean;
}

export const createLink = ({ time, random, latencyMs }: LinkOptions): Link => {
  let up = true;
  let heldBack: (() => void) | undefined;
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
  /** One timer for all that comes. */
  const watchOver = (stream: Open): void => {
    const leftMs = stream.heardAt + IDLE_MS - time.now();
    if (leftMs <= 0) fail(stream, broken('the watch brings nothing'));
    else stream.idle = time.timer(leftMs, () => watchOver(stream));
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
      stream.heardAt = time.now();
      stream.sink.push(head.event);
    }
  };
  const meetCut = (): void => {
    heldBack?.();
    heldBack = undefined;
  };
  const hold = (stream: Open, event: unknown, end?: () => void): void => {
    if (!up) meetCut();
    const at = Math.max(stream.lastAt, time.now() + travelMs() + (lags.get(stream.plural) ?? 0));
    stream.lastAt = at;
    stream.queue.push({ at, event, end });
    if (!stream.timer) flush(stream);
  };

  const setLag = (plural: string, ms: number): void => void lags.set(plural, ms);
  /** What becomes of an event of a stream that is well; undefined: nothing else. */
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
      meetCut();
      waiting.push(work);
    },
    cut(onEffect) {
      heldBack = onEffect;
      if (!up) return;
      up = false;
      death = time.timer(DEAD_AFTER_MS, () => {
        for (const stream of open) fail(stream, broken('the connection brings nothing'));
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
        heardAt: time.now(),
        lastAt: 0,
        live,
        silent: false,
      };
      open.add(stream);
      watchOver(stream);
      return {
        take(event) {
          if (!open.has(stream) || stream.silent) return;
          const { type, initialEventsEnd } = event as { type?: string; initialEventsEnd?: boolean };
          // Bookmarks are not what is lost: a reflector could not tell, and need not.
          const isNews = stream.live && type !== 'BOOKMARK';
          if (initialEventsEnd) stream.live = true;
          const next = isNews ? waitingFaults.get(plural)?.shift() : undefined;
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
