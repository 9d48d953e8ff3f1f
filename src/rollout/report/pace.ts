import type { Decision } from '../decision/decide.ts';
import { wavesOf } from '../decision/first-wave.ts';
import type { Ledger } from '../fleet/ledger-types.ts';

// Every update changes the estimate slightly: rounding it avoids writing the status for that alone.
const ESTIMATE_STEP_MS = 10_000;
const MINUTE_MS = 60_000;

/** How fast a rollout goes, if each further update takes as long as those before. */
export interface Pace {
  /** Nodes a minute, on average until the end. */
  perMinute: number;
  /** When all online nodes have the target, epoch ms. */
  finishAt: number;
}

/** Undefined while nothing is updated, or nobody knows yet how long an update takes. */
export const paceOf = (ledger: Ledger, { summary }: Decision, now: number): Pace | undefined => {
  const { outdated, broken, updating } = ledger.tally.phases;
  const left = outdated + broken + updating;
  if (summary.hold || summary.budget === 0 || left === 0 || ledger.meanUpdateMs === undefined) return undefined;
  const ms = wavesOf(summary.firstWave, summary.budget, left) * ledger.meanUpdateMs;
  return {
    perMinute: (left * MINUTE_MS) / Math.max(1, ms),
    finishAt: Math.ceil((now + ms) / ESTIMATE_STEP_MS) * ESTIMATE_STEP_MS,
  };
};
