import type { Summary } from '../decision/decide.ts';
import type { Ledger } from '../fleet/ledger-types.ts';
import type { RolloutState } from '../fleet/state.ts';
import { isEverywhere } from './coverage.ts';

type Milestone = 'firstWaveUpdatedAt' | 'halfUpdatedAt' | 'allNodesUpdatedAt';

/**
 * What the rollout has reached for the first time. Each is remembered: afterwards, nodes fail, go, and new ones come. The first target that
 * the manager finds has no way to go. A first wave that is no smaller than the budget is none.
 */
export const milestonesOf = (
  ledger: Ledger,
  summary: Summary,
  now: number,
): Partial<Pick<RolloutState, Milestone>> | undefined => {
  const { state, tally } = ledger;
  const { firstWave, budget } = summary;
  const isRollout = state.startedAt !== undefined;
  const { updated } = tally.phases;
  const isReached: Record<Milestone, boolean> = {
    firstWaveUpdatedAt:
      isRollout && firstWave !== undefined && firstWave.first < budget && firstWave.proven >= firstWave.first,
    halfUpdatedAt: isRollout && updated > 0 && 2 * updated >= tally.online,
    allNodesUpdatedAt: isEverywhere(ledger, summary),
  };
  const reached = (Object.keys(isReached) as Milestone[]).filter(
    (milestone) => isReached[milestone] && state[milestone] === undefined,
  );
  return reached.length === 0 ? undefined : Object.fromEntries(reached.map((milestone) => [milestone, now]));
};
