import { type Clock, createVirtualClock, type Timer } from '../../runtime/index.ts';

/** A clock for the cluster that is faster than real time. It starts in the past, so that it never shows the future. */
export interface FastClock extends Clock {
  /** Speeds up until it shows the real time. */
  catchUp(): Promise<void>;
  /** Stops the clock. */
  stop(): void;
}

export interface FastClockOptions {
  /** Real time. */
  base: Clock;
  /** How many times as fast as real time; above 0. */
  speed: number;
  /** How far behind real time it starts when it is faster. Default 20 minutes: longer than a demo. */
  behindMs?: number;
}

const TICK_MS = 5;
/** If the system is busy for longer, the cluster's time slows down, so that nodes don't miss their heartbeats. */
const LONGEST_STEP_MS = 40;
const CATCH_UP_SPEED = 150;

export const createFastClock = ({ base, speed, behindMs = 20 * 60_000 }: FastClockOptions): FastClock => {
  const clock = createVirtualClock(base.now() - (speed > 1 ? behindMs : 0), { fractionMs: 0 });
  const arrived = new Set<() => void>();
  let last = base.now();
  let rate = speed;
  let timer: Timer;
  const tick = (): void => {
    timer = base.timer(TICK_MS, tick);
    const now = base.now();
    const passed = Math.min(Math.max(0, now - last), LONGEST_STEP_MS) * rate;
    last = now;
    const left = now - clock.now();
    clock.run(Math.max(0, Math.min(passed, left)));
    if (rate < CATCH_UP_SPEED || now - clock.now() > TICK_MS) return;
    rate = 1;
    for (const resolve of arrived) resolve();
    arrived.clear();
  };
  timer = base.timer(TICK_MS, tick);
  return {
    now: () => clock.now(),
    timer: (delayMs, fire) => clock.timer(delayMs, fire),
    catchUp() {
      if (speed <= 1) return Promise.resolve();
      rate = Math.max(speed, CATCH_UP_SPEED);
      return new Promise((resolve) => arrived.add(resolve));
    },
    stop() {
      timer.cancel();
      for (const resolve of arrived) resolve();
    },
  };
};
