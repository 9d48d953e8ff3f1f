import { isDeepStrictEqual } from 'node:util';
import type { Condition } from 'kubernetes-types/meta/v1.d.ts';
import { type Decision, isAtRest, type Ledger } from '../../rollout/index.ts';
import { type Clock, createPace, nextAllowedAt } from '../../runtime/index.ts';

/** Minimum time between two writes while pods are created, deleted or changed. */
const INTERVAL_MS = 1_000;
/**
 * A burst of changes has settled once the status has stayed the same for this long; twice as long if it then continued. What
 * follows the end of a rollout is another burst.
 */
const QUIET_MS = 30;
const MOST_QUIET_MS = 120;
/** How many writes may be ahead of one for each interval: at the end of a burst, and at that of a rollout. */
const MOST_EARLY = { settled: 5, reached: 8 } as const;

/**
 * `moving`: the manager creates, deletes or changes pods, or waits for what follows from that. `settled`: whatever changes,
 * the manager does not cause it. `reached`: settled, and the manager has nothing left to do.
 */
export type Progress = 'moving' | 'settled' | 'reached';

/** `placing`: the kind creates or deletes pods, besides what was decided. */
export const progressOf = (ledger: Ledger, { actions, summary }: Decision, placing: boolean): Progress => {
  const { phases, causes } = ledger.tally;
  // Nobody changes a pod of the target revision that has been updated and is not ready.
  if (placing || actions.length > 0 || phases.updating > (causes.get('not-ready') ?? 0)) return 'moving';
  return isAtRest(ledger, summary) ? 'reached' : 'settled';
};

type TimedStatus = { conditions?: readonly Condition[] } & object;

/** The times of conditions that are not written yet are those of this moment. */
const withoutTimes = ({ conditions = [], ...others }: TimedStatus): object => ({
  ...others,
  conditions: conditions.map((condition) => ({ ...condition, lastTransitionTime: '' })),
});

/**
 * When to write a status that only informs. A client that waits for the pods and then reads the status once must find them in it,
 * but a rollout must not write a status for every pod: at once when a rollout has reached its end, soon after any other burst
 * has settled, and once a second while it continues. Pods and nodes that never settle cause one write a second as well.
 */
export const createStatusPace = (clock: Pick<Clock, 'now'>) => {
  let toldAt = Number.NEGATIVE_INFINITY;
  const early = createPace(clock, INTERVAL_MS, MOST_EARLY.reached);
  /** The status says that the end was reached, and nothing has changed that since. */
  let reached = false;
  let pending: { facts: object; since: number } | undefined;
  let quietMs = QUIET_MS;

  const intervalEndsAt = (): number => nextAllowedAt(toldAt, INTERVAL_MS, clock.now());

  return {
    /**
     * When to build the status, or, given the status, which differs from the last one, when to write it; epoch ms, a time in
     * the past for at once. Building takes the longer the more updates are in flight.
     */
    dueAt(progress: Progress, status?: TimedStatus): number {
      const now = clock.now();
      const atOnce = progress === 'reached' && !reached;
      if (progress !== 'reached') reached = false;
      if (progress === 'moving') return intervalEndsAt();
      if (!status) return now;
      const facts = withoutTimes(status);
      if (pending === undefined || pending.since > now || !isDeepStrictEqual(pending.facts, facts))
        pending = { facts, since: now };
      if (atOnce) return Math.min(intervalEndsAt(), early.nextAt(MOST_EARLY.reached));
      return Math.min(intervalEndsAt(), Math.max(early.nextAt(MOST_EARLY.settled), pending.since + quietMs));
    },
    /** The object has the status: it has not changed, was written to inform, or to reserve slots, which must not wait. */
    told(progress: Progress, how: 'unchanged' | 'informed' | 'reserved'): void {
      const now = clock.now();
      if (how === 'informed') {
        const goesOn = now < intervalEndsAt() && progress !== 'reached';
        quietMs = goesOn ? Math.min(MOST_QUIET_MS, 2 * quietMs) : QUIET_MS;
        early.done();
      }
      if (how !== 'unchanged' || progress === 'moving') toldAt = now;
      reached = progress === 'reached';
      pending = undefined;
    },
    /** Somebody else has written the object. */
    forget(): void {
      reached = false;
      pending = undefined;
    },
  };
};
