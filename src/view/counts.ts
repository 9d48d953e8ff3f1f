import { countsOf as countsOfLedger, fullScopeOf, ownersReplacePods, slotsOf, surges } from '../rollout/index.ts';
import type { Cause, Phase } from '../words/index.ts';
import type { RolloutReading } from './rollout-display.ts';

export interface RolloutCounts {
  counts: Readonly<Partial<Record<Phase, number>>>;
  /** Slots of the budget. */
  budget: { inUse: number; limit: number };
  /** Owners alone decide when pods are replaced: there is no budget. Default: false. */
  byOwners?: boolean;
  halted: boolean;
}

type NodeRecord = NonNullable<ReturnType<RolloutReading['ledger']['get']>>;

/** The phase and the cause of a node as people are told them: one that waits for its group or its stage to have room is held. */
export const phaseOf = (
  { decision }: Pick<RolloutReading, 'decision'>,
  record: NodeRecord,
): { phase: Phase | undefined; cause: Cause | undefined } => {
  const { phase, cause } = record.status;
  return !decision.summary.hold && fullScopeOf(record) ? { phase: 'held', cause: 'group' } : { phase, cause };
};

/** What a reading says of the whole rollout. */
export const countsOf = ({ ledger, decision }: Pick<RolloutReading, 'ledger' | 'decision'>): RolloutCounts => {
  const { budget, usage, hold } = decision.summary;
  const { inUse, limit } = slotsOf(budget, usage, surges(ledger.policy));
  return {
    counts: { ...countsOfLedger(ledger, decision.summary).phases },
    budget: { inUse, limit },
    byOwners: ownersReplacePods(ledger.policy),
    halted: hold?.kind === 'halted',
  };
};
