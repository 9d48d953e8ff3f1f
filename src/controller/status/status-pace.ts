import { type Decision, isAtRest, type Ledger } from '../../rollout/index.ts';
import { type Clock, createPace, nextAllowedAt } from '../../runtime/index.ts';

const INTERVAL_MS = 1_000;
/** How many of those at an end may be ahead of one for each interval. */
const MOST_EARLY = 8;

/** Something of the rollout is left to do, and it is known what. */
export const isMoving = (ledger: Ledger, { actions, summary }: Decision): boolean =>
  actions.length > 0 || (summary.hold?.kind !== 'unobserved' && !isAtRest(ledger, summary));

/**
 * When to write a status that only informs: once a second while things move, beginning with the first change, and at once when
 * nothing is left to do. So a client that waits for the pods and then reads the status once finds them in it, and a rollout does not
 * write a status for every pod.
 */
export const createStatusPace = (clock: Pick<Clock, 'now'>) => {
  const pace = createPace(clock, INTERVAL_MS, MOST_EARLY);
  /** While things moved. */
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    /** When to build the status, and to write it if it differs; epoch ms, a time in the past for at once. */
    dueAt: (moving: boolean): number => (moving ? nextAllowedAt(lastAt, INTERVAL_MS, clock.now()) : pace.nextAt()),
    /** The status is as it was, or was written for the sake of something else, which must not wait. */
    current(): void {
      lastAt = clock.now();
    },
    written(moving: boolean): void {
      if (moving) lastAt = clock.now();
      pace.done();
    },
  };
};
