import { RoundTripError } from '../../../src/kube/testing/index.ts';
import type { Clock, Timer } from '../../../src/runtime/index.ts';
import type { StreamFault } from './call.ts';
import { statusText } from './response.ts';
import { endsInitialEvents, isBookmark } from './watch-body.ts';

/** Receives the lines of a watch. */
export interface Sink {
  /** `broken`: it is no event. */
  push(line: string, broken?: boolean): void;
  /** The connection breaks. */
  fail(error: Error): void;
  /** The server ends the response. */
  close(): void;
}

/** One watch, from the server to a process. */
export interface Stream {
  /** A line that the server sends. */
  take(line: string): void;
  /** The server ends it with this Status; without one, because its time is up. */
  refuse(status: string): void;
  end(): void;
  /** The process has closed it. */
  drop(): void;
}

/** A process's link to the API server. Streams are addressed by the plural of their resource. */
export interface Link {
  /** One way, ms. */
  travelMs(): number;
  readonly up: boolean;
  /** A watch is open that receives nothing, and whose client has not noticed yet. */
  readonly silent: boolean;
  /** A watch has events that come later than they travel. */
  readonly late: boolean;
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

/** As in the transport below the client: a silent connection is closed after this time. */
const DEAD_AFTER_MS = 30_000;

const broken = (what: string): RoundTripError => new RoundTripError(true, new Error(what));
const errorLine = (status: string): string => `{"type":"ERROR","object":${status}}\n`;

interface Held {
  at: number;
  line: string;
  /** Called instead: the end of the stream. */
  end: (() => void) | undefined;
}

interface Open {
  plural: string;
  sink: Sink;
  queue: Held[];
  timer: Timer | undefined;
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
    stream.queue = [];
  };
  const fail = (stream: Open, error: Error): void => {
    if (!open.has(stream)) return;
    close(stream);
    stream.sink.fail(error);
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
      stream.sink.push(head.line);
    }
  };
  const noteHeldBack = (): void => {
    onFirstHeldBack?.();
    onFirstHeldBack = undefined;
  };
  const hold = (stream: Open, line: string, end?: () => void): void => {
    if (!up) noteHeldBack();
    const at = Math.max(stream.lastAt, time.now() + travelMs() + (lags.get(stream.plural) ?? 0));
    stream.lastAt = at;
    stream.queue.push({ at, line, end });
    if (!stream.timer) flush(stream);
  };

  const setLag = (plural: string, ms: number): void => void lags.set(plural, ms);
  /** Delivers an event of a healthy stream through a fault; undefined: none. */
  const deliverThrough = (stream: Open, line: string, fault: StreamFault | undefined): void => {
    const endWith = (text: string): void => {
      close(stream);
      stream.sink.push(text, true);
      stream.sink.close();
    };
    switch (fault?.how) {
      case 'drop':
        return;
      case 'silence':
        stream.silent = true;
        return;
      case 'gone':
        return endWith(errorLine(statusText(410)));
      case 'truncate':
        return endWith(line.slice(0, line.length / 2));
      case 'reset':
        return fail(stream, broken('injected: reset'));
      case 'duplicate':
        hold(stream, line);
        return hold(stream, line);
      case 'lag':
        setLag(stream.plural, fault.ms);
        time.timer(fault.forMs, () => setLag(stream.plural, 0));
        return hold(stream, line);
      case undefined:
        return hold(stream, line);
    }
  };

  return {
    travelMs,
    get up() {
      return up;
    },
    get silent() {
      return open.values().some((stream) => stream.silent);
    },
    get late() {
      return open.values().some(({ lastAt }) => lastAt > time.now() + 2 * latencyMs);
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
        lastAt: 0,
        live,
        silent: false,
      };
      open.add(stream);
      return {
        take(line) {
          if (!open.has(stream) || stream.silent) return;
          // A lost bookmark would go unnoticed.
          const isNewEvent = stream.live && !isBookmark(line);
          stream.live ||= endsInitialEvents(line);
          const next = isNewEvent ? waitingFaults.get(plural)?.shift() : undefined;
          next?.onEffect();
          deliverThrough(stream, line, next?.fault);
        },
        refuse(status) {
          if (!open.has(stream) || stream.silent) return;
          hold(stream, '', () => {
            stream.sink.push(errorLine(status), true);
            stream.sink.close();
          });
        },
        end() {
          if (!open.has(stream) || stream.silent) return;
          hold(stream, '', () => stream.sink.close());
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
