import TinyQueue from 'tinyqueue';
import type { Clock, Timer } from '../runtime/index.ts';

/** Keys with a time each, and one clock timer for all of them. */
export interface Deadlines {
  /** Fires for `key` at `timeMs`, or earlier when an earlier time was set before. */
  set(key: string, timeMs: number): void;
  readonly size: number;
  stop(): void;
}

interface Entry {
  key: string;
  at: number;
}

export const createDeadlines = (clock: Clock, fire: (key: string) => void): Deadlines => {
  const earliest = new Map<string, number>();
  // An entry whose time is no longer the key's earliest is left over from a later deadline and is skipped.
  const byTime = (a: Entry, b: Entry): number => a.at - b.at;
  let heap = new TinyQueue<Entry>([], byTime);
  let timer: { at: number; timer: Timer } | undefined;
  let stopped = false;

  const disarm = (): void => {
    timer?.timer.cancel();
    timer = undefined;
  };

  const arm = (): void => {
    const next = heap.peek();
    if (stopped || next === undefined || (timer !== undefined && timer.at <= next.at)) return;
    disarm();
    timer = { at: next.at, timer: clock.timer(next.at - clock.now(), expire) };
  };

  const expire = (): void => {
    timer = undefined;
    const now = clock.now();
    for (let next = heap.peek(); next !== undefined && next.at <= now; next = heap.peek()) {
      heap.pop();
      if (earliest.get(next.key) !== next.at) continue;
      earliest.delete(next.key);
      fire(next.key);
    }
    arm();
  };

  return {
    set(key, timeMs) {
      if (stopped) return;
      const at = Number.isFinite(timeMs) ? timeMs : clock.now();
      const known = earliest.get(key);
      if (known !== undefined && known <= at) return;
      earliest.set(key, at);
      heap.push({ key, at });
      // Replaced entries must not pile up where a key's time moves forward again and again.
      if (heap.length > 64 && heap.length > 2 * earliest.size) {
        const live = heap.data.filter((entry) => earliest.get(entry.key) === entry.at);
        heap = new TinyQueue(live, byTime);
      }
      arm();
    },
    get size() {
      return earliest.size;
    },
    stop() {
      stopped = true;
      disarm();
    },
  };
};
