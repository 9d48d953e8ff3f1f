import TinyQueue from 'tinyqueue';
import { type Clock, nextTurn } from './clock.ts';

interface Entry {
  readonly at: number;
  readonly order: number;
  /** Undefined once it is cancelled. */
  fire: (() => void) | undefined;
}

/** Time that passes by firing timers, at the speed of what happens in them: in their order, equal times as they were set. */
export interface VirtualClock extends Clock {
  /** Fires what is due within `ms`, and stands there. Nothing that waits for a promise moves meanwhile. */
  run(ms: number): void;
  /** Fires timers until `done` says so, tested before each; false when there are none left within `limitMs`. */
  runUntil(done: () => boolean, limitMs: number): boolean;
  /** The same as `run`, with promises settled before each timer: for code that awaits. */
  advance(ms: number): Promise<void>;
  /** The same as `runUntil`, likewise. */
  advanceUntil(done: () => boolean, limitMs: number): Promise<boolean>;
}

const LEAST_TO_SWEEP = 64;

/** A clock that stands at `startMs` (epoch milliseconds) until it is moved. */
export const createVirtualClock = (startMs: number): VirtualClock => {
  const sooner = (a: Entry, b: Entry): number => a.at - b.at || a.order - b.order;
  let timers = new TinyQueue<Entry>([], sooner);
  let now = startMs;
  let order = 0;
  let cancelled = 0;

  /** Most timers are limits that are cancelled long before their time: they are not kept until then. */
  const sweep = (): void => {
    if (cancelled < LEAST_TO_SWEEP || cancelled * 2 < timers.length) return;
    timers = new TinyQueue(
      timers.data.filter((entry) => entry.fire),
      sooner,
    );
    cancelled = 0;
  };

  const nextWithin = (end: number): Entry | undefined => {
    for (let next = timers.peek(); next && next.at <= end; next = timers.peek()) {
      timers.pop();
      if (next.fire) return next;
      cancelled -= 1;
    }
    return undefined;
  };
  const fire = (entry: Entry): void => {
    now = Math.max(now, entry.at);
    const { fire: run } = entry;
    entry.fire = undefined;
    run?.();
  };

  return {
    now: () => now,
    timer(delayMs, run) {
      order += 1;
      // Whole milliseconds, as machines show them: delays have jitter.
      const entry: Entry = { at: now + Math.max(0, Math.ceil(delayMs)), order, fire: run };
      timers.push(entry);
      return {
        cancel() {
          if (!entry.fire) return;
          entry.fire = undefined;
          cancelled += 1;
          sweep();
        },
      };
    },
    run(ms) {
      const end = now + ms;
      for (let next = nextWithin(end); next; next = nextWithin(end)) fire(next);
      now = end;
    },
    runUntil(done, limitMs) {
      const end = now + limitMs;
      while (!done()) {
        const next = nextWithin(end);
        if (!next) {
          now = end;
          return done();
        }
        fire(next);
      }
      return true;
    },
    async advance(ms) {
      const end = now + ms;
      await nextTurn();
      for (let next = nextWithin(end); next; next = nextWithin(end)) {
        fire(next);
        await nextTurn();
      }
      now = end;
    },
    async advanceUntil(done, limitMs) {
      const end = now + limitMs;
      for (;;) {
        await nextTurn();
        if (done()) return true;
        const next = nextWithin(end);
        if (!next) {
          now = end;
          return done();
        }
        fire(next);
      }
    },
  };
};
