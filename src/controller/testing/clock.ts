import type { Clock } from '../../runtime/index.ts';

export interface TestClock extends Clock {
  /** Moves time on, firing timers in order, and lets promises settle between them. */
  advance(ms: number): Promise<void>;
  /** Sets the time as a person or NTP does: timers go on counting what they have left. */
  jump(ms: number): void;
}

/** Lets everything that needs no timer happen. */
export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 8; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
};

/** A clock that stands still until it is moved. */
export const createTestClock = (startMs = Date.parse('2026-01-01T00:00:00Z')): TestClock => {
  let elapsed = 0;
  let offset = startMs;
  const timers = new Set<{ at: number; fire: () => void }>();
  const nextDue = (until: number) => {
    let best: { at: number; fire: () => void } | undefined;
    for (const timer of timers) if (timer.at <= until && (best === undefined || timer.at < best.at)) best = timer;
    return best;
  };
  return {
    now: () => offset + elapsed,
    timer(delayMs, fire) {
      const timer = { at: elapsed + Math.max(0, delayMs), fire };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    async advance(ms) {
      const until = elapsed + ms;
      await settle();
      for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
        timers.delete(timer);
        elapsed = Math.max(elapsed, timer.at);
        timer.fire();
        await settle();
      }
      elapsed = until;
    },
    jump(ms) {
      offset += ms;
    },
  };
};
