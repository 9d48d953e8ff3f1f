import type { Clock } from './clock.ts';
import type { Logger } from './log.ts';

/** The environment of every long-lived part: its only source of time and randomness, and its log. */
export interface Env {
  clock: Clock;
  /** Uniform in [0, 1). */
  random: () => number;
  log: Logger;
}
