import TinyQueue from 'tinyqueue';
import type { Clock, Timer } from '../../src/runtime/index.ts';

interface Entry {
  readonly at: number;
  readonly order: number;
  readonly key: string;
}

/** Timers by key that share one timer of the clock. */
export interface TimerQueue {
  /** Replaces the key's time. */
  set(key: string, at: number): void;
  delete(key: string): void;
}

/** Calls `due` for each key at its time, in order. */
export const createTimerQueue = (clock: Clock, due: (key: string) => void): TimerQueue => {
  const heap = new TinyQueue<Entry>([], (a, b) => a.at - b.at || a.order - b.order);
  const present = new Map<string, Entry>();
  let order = 0;
  let timer: { handle: Timer; at: number } | undefined;

  const arm = (): void => {
    const first = heap.peek();
    if (!first || (timer && timer.at <= first.at)) return;
    timer?.handle.cancel();
    timer = { handle: clock.timer(first.at - clock.now(), fire), at: first.at };
  };
  const fire = (): void => {
    timer = undefined;
    for (let first = heap.peek(); first && first.at <= clock.now(); first = heap.peek()) {
      heap.pop();
      // A replaced entry stays in the heap until its time, and is skipped.
      if (present.get(first.key) !== first) continue;
      present.delete(first.key);
      due(first.key);
    }
    arm();
  };

  return {
    set(key, at) {
      order += 1;
      const entry: Entry = { at, order, key };
      present.set(key, entry);
      heap.push(entry);
      arm();
    },
    delete: (key) => void present.delete(key),
  };
};
