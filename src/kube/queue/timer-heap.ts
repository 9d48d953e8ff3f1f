import TinyQueue from 'tinyqueue';
import type { Clock, Timer } from '../../runtime/index.ts';

/** Timers for many keys on one timer of the clock. */
export interface TimerHeap {
  /** Fires for `key` at `timeMs`; earlier when an earlier time is pending, or when the clock is set back. */
  set(key: string, timeMs: number): void;
  readonly size: number;
  stop(): void;
}

/** A slewed clock may step back a little, and timers may fire a little early. */
const CLOCK_SLACK_MS = 1_000;

interface Entry {
  key: string;
  at: number;
}

export const createTimerHeap = (clock: Clock, fire: (key: string) => void): TimerHeap => {
  const earliest = new Map<string, number>();
  // An entry whose time is no longer the earliest of its key was replaced, and is skipped.
  const byTime = (a: Entry, b: Entry): number => a.at - b.at;
  let heap = new TinyQueue<Entry>([], byTime);
  let timer: { at: number; timer: Timer } | undefined;
  let stopped = false;
  /** The latest time that was read, or that a fired timer has proved. */
  let latest = Number.NEGATIVE_INFINITY;
  /** The clock was set back: a timer due soon may now be hours away. */
  let wentBack = false;

  const readClock = (): number => {
    const now = clock.now();
    wentBack ||= now < latest - CLOCK_SLACK_MS;
    latest = wentBack ? now : Math.max(latest, now);
    return now;
  };

  const disarm = (): void => {
    timer?.timer.cancel();
    timer = undefined;
  };

  const arm = (): void => {
    const next = heap.peek();
    if (stopped || next === undefined) return;
    const at = wentBack ? Number.NEGATIVE_INFINITY : next.at;
    if (timer !== undefined && timer.at <= at) return;
    disarm();
    timer = { at, timer: clock.timer(wentBack ? 0 : at - clock.now(), expire) };
  };

  const expire = (): void => {
    latest = Math.max(latest, timer?.at ?? latest);
    timer = undefined;
    const now = readClock();
    if (wentBack) {
      // Fire all keys now: their owners check the time and set new timers.
      const keys = [...earliest.keys()];
      earliest.clear();
      heap = new TinyQueue<Entry>([], byTime);
      wentBack = false;
      for (const key of keys) fire(key);
    }
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
      readClock();
      const at = Number.isFinite(timeMs) ? timeMs : clock.now();
      const known = earliest.get(key);
      if (known !== undefined && known <= at) return;
      earliest.set(key, at);
      heap.push({ key, at });
      // Replaced entries must not pile up when a key's time keeps moving.
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
