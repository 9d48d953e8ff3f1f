import { isAwaitingApproval } from '../commands/index.ts';
import type { Ledger, Plan } from '../rollout/index.ts';
import { presentStages, promotionWay } from '../view/index.ts';
import { type DaemonRolloutStage, type DaemonRolloutStatus, REST_STAGE } from '../words/index.ts';
import type { RolloutHead, StageDecision, StageStep } from './messages.ts';

/** Those that do something: the stage waits for what they give or skip, and an approval only where the plan requires it. */
const decisionsOn = (stage: DaemonRolloutStage, plan: Plan | undefined): StageDecision[] => {
  const { name, state, awaits } = stage;
  if (state !== 'Open' || awaits === undefined || name === REST_STAGE) return [];
  const needsApproval = plan?.stages.find((one) => one.name === name)?.needsApproval ?? true;
  if (!isAwaitingApproval(stage) || !needsApproval) return ['promote'];
  // A promotion skips all but the approval.
  return awaits.reason === 'Approval' ? ['approve'] : ['approve', 'promote'];
};

export interface Staged {
  policy: Pick<Ledger['policy'], 'plan'>;
  state: { readonly target: Pick<NonNullable<Ledger['state']['target']>, 'hash'> | undefined };
  tally: {
    readonly stages: readonly Pick<Ledger['tally']['stages'][number], 'eligible' | 'online' | 'updated' | 'exposed'>[];
  };
}

/** As the cells show them; the manager records them less often. */
const nodesOf = ({ name, nodes }: DaemonRolloutStage, { policy, tally }: Staged): StageStep['nodes'] => {
  const index = policy.plan?.stages.findIndex((one) => one.name === name) ?? -1;
  const counts = index < 0 ? undefined : tally.stages[index];
  if (!counts) return nodes;
  const { eligible: total, online, updated, exposed } = counts;
  return { total, online, updated, ...(exposed > 0 && { exposed }) };
};

const stepOf = (stage: DaemonRolloutStage, ledger: Staged, isSeen: boolean): StageStep => {
  const { name, state, coveredAt, soakUntil, promotedAt, awaits, checks = [] } = stage;
  return {
    name,
    state,
    nodes: nodesOf(stage, ledger),
    ...(state === 'Open' && coveredAt !== undefined && { coveredAt }),
    ...(state === 'Open' && soakUntil !== undefined && { soakUntil }),
    ...(promotedAt !== undefined && { promotedAt }),
    awaits: awaits?.message ?? '',
    way: promotionWay(stage),
    checks: checks.map(({ name: check, state: is, message = '' }) => ({ name: check, state: is, message })),
    decisions: isSeen ? decisionsOn(stage, ledger.policy.plan) : [],
  };
};

/** The stages as the manager recorded them for the present template, with the nodes of now; undefined if there are none. */
export const stagesOf = (
  status: DaemonRolloutStatus | undefined,
  view: { generation: number },
  ledger: Staged,
): RolloutHead['stages'] => {
  const stages = presentStages(status, view);
  if (stages.length === 0) return undefined;
  // Nobody decides on a revision that the page doesn't show yet: the watches of the two are not ordered.
  const isSeen = status?.target?.hash === ledger.state.target?.hash;
  return { plan: status?.plan ?? '', steps: stages.map((stage) => stepOf(stage, ledger, isSeen)) };
};
