import type { Clock } from './clock.ts';

export interface Pace {
  /** When it may be done next, epoch ms; a time in the past for at once. */
  nextAt(): number;
  done(): void;
}

/**
 * Lets something happen once an interval in the long run, and `mostEarly` times ahead of that after a rest: a token bucket
 * that tells when instead of refusing. A clock that is set back delays nothing for longer than what has been done ahead.
 */
export const createPace = (clock: Pick<Clock, 'now'>, intervalMs: number, mostEarly: number): Pace => {
  /** When the intervals of all that was done are over. */
  let owedUntil = Number.NEGATIVE_INFINITY;
  return {
    nextAt() {
      owedUntil = Math.min(owedUntil, clock.now() + (mostEarly + 1) * intervalMs);
      return owedUntil - mostEarly * intervalMs;
    },
    done() {
      owedUntil = Math.max(owedUntil, clock.now()) + intervalMs;
    },
  };
};
