import type { Decision } from '../decision/decide.ts';
import { wavesOf } from '../decision/first-wave.ts';
import type { Ledger } from '../fleet/ledger-types.ts';

// Every update changes the estimate slightly: rounding it avoids writing the status for that alone.
const ESTIMATE_STEP_MS = 10_000;

/**
 * When all online nodes have the target if each further update takes as long as those before, epoch ms. Undefined while nothing is
 * updated, or nobody knows yet how long an update takes.
 */
export const finishOf = (ledger: Ledger, { summary }: Decision, now: number): number | undefined => {
  const { outdated, broken, updating } = ledger.tally.phases;
  const left = outdated + broken + updating;
  if (summary.hold || summary.budget === 0 || left === 0 || ledger.meanUpdateMs === undefined) return undefined;
  const ms = wavesOf(summary.firstWave, summary.budget, left) * ledger.meanUpdateMs;
  return Math.ceil((now + ms) / ESTIMATE_STEP_MS) * ESTIMATE_STEP_MS;
};
