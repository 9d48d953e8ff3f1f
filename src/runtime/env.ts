import type { Clock } from './clock.ts';
import type { Logger } from './log.ts';

/** The outside world as every long-lived part takes it: nothing else gives it time, chance or a log. */
export interface Env {
  clock: Clock;
  /** Uniform in [0, 1). */
  random: () => number;
  log: Logger;
}
