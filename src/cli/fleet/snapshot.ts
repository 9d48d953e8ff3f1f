import { countsOf as countsOfLedger, fullScopeOf, slotsOf, surges } from '../../rollout/index.ts';
import type { RolloutReading } from '../../view/index.ts';
import type { Cause, Phase } from '../../words/index.ts';

/** One node, as drawn. */
export interface NodeState {
  name: string;
  /** Undefined while the DaemonSet doesn't run on the node. */
  phase: Phase | undefined;
  /** Image of its pod; empty when there is none. */
  image: string;
}

export interface EventLine {
  reason: string;
  note: string;
  warning: boolean;
}

/** The state of one rollout, as drawn. */
export interface Snapshot {
  /** In the order in which they are drawn. */
  nodes: readonly NodeState[];
  counts: Readonly<Partial<Record<Phase, number>>>;
  /** Slots of the budget. */
  budget: { inUse: number; limit: number };
  halted: boolean;
  /** Oldest first. */
  events: readonly EventLine[];
}

export const emptySnapshot: Snapshot = {
  nodes: [],
  counts: {},
  budget: { inUse: 0, limit: 0 },
  halted: false,
  events: [],
};

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
export const countsOf = ({
  ledger,
  decision,
}: Pick<RolloutReading, 'ledger' | 'decision'>): Pick<Snapshot, 'counts' | 'budget' | 'halted'> => {
  const { budget, usage, hold } = decision.summary;
  const { inUse, limit } = slotsOf(budget, usage, surges(ledger.policy));
  return {
    counts: { ...countsOfLedger(ledger, decision.summary).phases },
    budget: { inUse, limit },
    halted: hold?.kind === 'halted',
  };
};
