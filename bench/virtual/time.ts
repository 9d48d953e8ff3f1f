import { setImmediate as turn } from 'node:timers/promises';
import TinyQueue from 'tinyqueue';
import type { Clock } from '../../src/runtime/index.ts';

/** What takes longer will never happen: a day of virtual time. */
const LONGEST_MS = 86_400_000;

interface Entry {
  at: number;
  order: number;
  fire: (() => void) | undefined;
}

/** A clock whose time passes only in `runUntil`, at the speed of what happens in it. */
export interface VirtualClock extends Clock {
  /** Fires timers in order, letting promises settle after each, until `done`. Rejects when that never comes. */
  runUntil(done: () => boolean): Promise<void>;
  /** Fires what is due within `ms`, and stands there. */
  advance(ms: number): Promise<void>;
}

export const createVirtualClock = (startMs: number): VirtualClock => {
  const timers = new TinyQueue<Entry>([], (a, b) => a.at - b.at || a.order - b.order);
  let now = startMs;
  let order = 0;
  const clock: VirtualClock = {
    now: () => now,
    timer(delayMs, fire) {
      order += 1;
      const entry: Entry = { at: now + Math.max(0, delayMs), order, fire };
      timers.push(entry);
      return {
        cancel() {
          entry.fire = undefined;
        },
      };
    },
    async runUntil(done) {
      const deadline = now + LONGEST_MS;
      for (;;) {
        await turn();
        if (done()) return;
        const next = timers.pop();
        if (!next || next.at > deadline) throw new Error('what is waited for on the virtual clock never happens');
        if (!next.fire) continue;
        now = next.at;
        next.fire();
      }
    },
    async advance(ms) {
      let there = false;
      clock.timer(ms, () => {
        there = true;
      });
      await clock.runUntil(() => there);
    },
  };
  return clock;
};
