import type { Clock } from '../../runtime/index.ts';

export interface ManualClock extends Clock {
  /** Moves time on, firing timers in order, and lets promises settle between them. */
  advance(ms: number): Promise<void>;
  /** Timers that have neither fired nor been cancelled. */
  readonly pending: number;
}

/** Lets everything that needs no timer and no I/O happen. */
export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
};

/** A clock that stands still until it is moved. */
export const createManualClock = (startMs = 1_700_000_000_000): ManualClock => {
  let now = startMs;
  let order = 0;
  const timers = new Map<number, { at: number; fire: () => void }>();
  const nextDue = (until: number): number | undefined => {
    let best: number | undefined;
    for (const [id, { at }] of timers) {
      if (at <= until && (best === undefined || at < (timers.get(best)?.at ?? Infinity))) best = id;
    }
    return best;
  };
  return {
    now: () => now,
    timer(delayMs, fire) {
      order += 1;
      const id = order;
      timers.set(id, { at: now + Math.max(0, delayMs), fire });
      return { cancel: () => void timers.delete(id) };
    },
    async advance(ms) {
      const until = now + ms;
      await settle();
      for (let id = nextDue(until); id !== undefined; id = nextDue(until)) {
        const timer = timers.get(id);
        timers.delete(id);
        now = Math.max(now, timer?.at ?? now);
        timer?.fire();
        await settle();
      }
      now = until;
    },
    get pending() {
      return timers.size;
    },
  };
};
