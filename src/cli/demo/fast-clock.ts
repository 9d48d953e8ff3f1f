import { type Clock, createVirtualClock, type Timer } from '../../runtime/index.ts';

/** A cluster's time that passes faster than the machine's. It starts in the past, so that no object is from the future. */
export interface FastClock extends Clock {
  /** Hurries until it shows the machine's time; resolves then. */
  catchUp(): Promise<void>;
  /** Time stands still from here on. */
  stop(): void;
}

export interface FastClockOptions {
  /** The machine's clock. */
  base: Clock;
  /** Seconds of the cluster in one of the machine; above 0. */
  speed: number;
  /** How far behind the machine's time it starts, when it is faster. Default 12 minutes: a demo is shorter. */
  behindMs?: number;
}

const TICK_MS = 5;
/** A machine that is busy for longer than this slows the cluster's time down instead of making nodes miss heartbeats. */
const LONGEST_STEP_MS = 40;
const HURRY = 150;

export const createFastClock = ({ base, speed, behindMs = 12 * 60_000 }: FastClockOptions): FastClock => {
  const clock = createVirtualClock(base.now() - (speed > 1 ? behindMs : 0));
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
    if (rate < HURRY || now - clock.now() > TICK_MS) return;
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
      rate = Math.max(speed, HURRY);
      return new Promise((resolve) => arrived.add(resolve));
    },
    stop() {
      timer.cancel();
      for (const resolve of arrived) resolve();
    },
  };
};
