import { KubeError } from '../../src/kube/index.ts';
import type { Clock, Timer } from '../../src/runtime/index.ts';

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

/** A process's way to the API server. What is done to streams is done by the plural of their resource. */
export interface Link {
  /** One way, ms. */
  travelMs(): number;
  /** At once, or when the link is back. */
  whenUp(work: () => void): void;
  cut(): void;
  restore(): void;
  stream(plural: string, sink: Sink): Stream;
  /** Events of these watches come so much later, ms. */
  setLag(plural: string, ms: number): void;
  /** Of the watches that are open: the next event is lost; it comes twice; nothing comes any more; an answer 410. */
  disturb(plural: string, how: 'drop' | 'duplicate' | 'silence' | 'gone' | 'reset'): number;
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
  lastAt: number;
  drops: number;
  doubles: number;
  silent: boolean;
}

export const createLink = ({ time, random, latencyMs }: LinkOptions): Link => {
  let up = true;
  let waiting: (() => void)[] = [];
  let death: Timer | undefined;
  const open = new Set<Open>();
  const lags = new Map<string, number>();
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
  const watchOver = (stream: Open): void => {
    stream.idle?.cancel();
    stream.idle = time.timer(IDLE_MS, () => fail(stream, broken('the watch brings nothing')));
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
      watchOver(stream);
      stream.sink.push(head.event);
    }
  };
  const hold = (stream: Open, event: unknown, end?: () => void): void => {
    const at = Math.max(stream.lastAt, time.now() + travelMs() + (lags.get(stream.plural) ?? 0));
    stream.lastAt = at;
    stream.queue.push({ at, event, end });
    if (!stream.timer) flush(stream);
  };

  return {
    travelMs,
    whenUp(work) {
      if (up) work();
      else waiting.push(work);
    },
    cut() {
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
    stream(plural, sink) {
      const stream: Open = {
        plural,
        sink,
        queue: [],
        timer: undefined,
        idle: undefined,
        lastAt: 0,
        drops: 0,
        doubles: 0,
        silent: false,
      };
      open.add(stream);
      watchOver(stream);
      return {
        take(event) {
          if (!open.has(stream) || stream.silent) return;
          // Bookmarks are not what is lost: a reflector could not tell, and need not.
          const bookmark = (event as { type?: string }).type === 'BOOKMARK';
          if (!bookmark && stream.drops > 0) {
            stream.drops -= 1;
            return;
          }
          hold(stream, event);
          if (!bookmark && stream.doubles > 0) {
            stream.doubles -= 1;
            hold(stream, event);
          }
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
    setLag: (plural, ms) => void lags.set(plural, ms),
    disturb(plural, how) {
      let count = 0;
      for (const stream of open) {
        if (stream.plural !== plural) continue;
        count += 1;
        if (how === 'drop') stream.drops += 1;
        if (how === 'duplicate') stream.doubles += 1;
        if (how === 'silence') stream.silent = true;
        if (how === 'gone') fail(stream, new KubeError('Gone', 'injected: too old resource version', { status: 410 }));
        if (how === 'reset') fail(stream, broken('injected: reset'));
      }
      return count;
    },
  };
};
