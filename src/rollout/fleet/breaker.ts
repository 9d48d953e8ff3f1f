import { scaledValue } from '../policy/int-or-percent.ts';
import type { Policy } from '../policy/policy.ts';
import type { Tally } from './tally.ts';

const LEAST_THRESHOLD = 3;

export interface Breaker {
  /** Nodes that the target revision failed on: online ones, and those lost after our update. */
  failures: number;
  /** Nodes that went offline soon after our update; each will be cleared or become a failure. */
  suspects: number;
  /** No update starts while failures and suspects together reach it. */
  threshold: number;
  open: boolean;
  /**
   * Failures alone have reached the threshold, or hold every slot of the budget or all of the first wave: waiting will change
   * nothing.
   */
  mustHalt: boolean;
}

/** `updatesStarted` is the number of nodes updated in this rollout. */
export const breakerOf = (
  policy: Pick<Policy, 'failureThreshold'>,
  tally: Readonly<Tally>,
  updatesStarted: number,
  budget: number,
): Breaker => {
  const { failureThreshold } = policy;
  const threshold =
    failureThreshold.kind === 'int'
      ? failureThreshold.value
      : Math.max(LEAST_THRESHOLD, scaledValue(failureThreshold, updatesStarted, 'up'));
  const failures = tally.onlineFailures + tally.lostFailures;
  return {
    failures,
    suspects: tally.suspects,
    threshold,
    open: failures + tally.suspects >= threshold,
    // A lost node holds no slot: with a budget of 1 it must not stop the rollout before the threshold does.
    mustHalt: failures >= threshold || (budget > 0 && tally.onlineFailures >= budget),
  };
};
