import TinyQueue from 'tinyqueue';
import { type Clock, onNextTurn } from './clock.ts';

interface Entry {
  readonly at: number;
  readonly order: number;
  /** Undefined once it is cancelled. */
  fire: (() => void) | undefined;
}

/** Time that passes by firing timers in the order of their due times; equal times fire in the order they were set. */
export interface VirtualClock extends Clock {
  /** Timers that have neither fired nor been cancelled. */
  readonly pending: number;
  /** Fires all timers due within `ms`, then stops there. Promises do not settle in between. */
  run(ms: number): void;
  /** Fires timers until `done` holds, checked before each; false when no timer is left within `limitMs`. */
  runUntil(done: () => boolean, limitMs: number): boolean;
  /** Like `run`, but promises settle before each timer: for code that awaits. */
  advance(ms: number): Promise<void>;
  /** Like `runUntil`, but promises settle before each timer. */
  advanceUntil(done: () => boolean, limitMs: number): Promise<boolean>;
}

export interface VirtualClockOptions {
  /** Turns of the event loop that promises get before each timer. Default 1. */
  turns?: number;
  /** What its times have beyond whole milliseconds, as those of `steadyClock` do. Default 0.375. */
  fractionMs?: number;
}

/** Binary, so that sums are exact. */
const FRACTION_MS = 0.375;

/** Cancelled timers are swept out once there are this many of them and they are the majority. */
const LEAST_TO_SWEEP = 64;

/** A clock that stands at `startMs` (epoch milliseconds), and a fraction of a millisecond, until it is moved. */
export const createVirtualClock = (
  startMs: number,
  { turns = 1, fractionMs = FRACTION_MS }: VirtualClockOptions = {},
): VirtualClock => {
  const sooner = (a: Entry, b: Entry): number => a.at - b.at || a.order - b.order;
  let timers = new TinyQueue<Entry>([], sooner);
  let now = startMs + fractionMs;
  let order = 0;
  let cancelled = 0;

  /** Most timers are timeouts that are cancelled long before they are due; sweeping frees them early. */
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

  /** Without promises of its own: there are as many turns as timers. */
  const advanceUntil = (done: () => boolean, limitMs: number): Promise<boolean> =>
    new Promise((resolve, reject) => {
      const end = now + limitMs;
      let left = turns;
      const turn = (): void => {
        left -= 1;
        try {
          if (left === 0) {
            left = turns;
            if (done()) return resolve(true);
            const next = nextWithin(end);
            if (!next) {
              now = end;
              return resolve(done());
            }
            fire(next);
          }
          onNextTurn(turn);
        } catch (error) {
          reject(error);
        }
      };
      onNextTurn(turn);
    });

  return {
    now: () => now,
    get pending() {
      return timers.length - cancelled;
    },
    timer(delayMs, run) {
      order += 1;
      // Timers of machines wait whole milliseconds: jittered delays are fractional.
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
      await advanceUntil(() => false, ms);
    },
    advanceUntil,
  };
};
