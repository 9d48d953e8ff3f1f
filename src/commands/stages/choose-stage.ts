import { CommandError } from '../../view/index.ts';
import { type DaemonRolloutStage, REST_STAGE } from '../../words/index.ts';

/** A rollout that follows a plan. */
export interface StagedRollout {
  /** As in `DaemonSet shop/web`. */
  title: string;
  /** As the annotation names it: NAME, or cluster/NAME. */
  plan: string;
  stages: readonly DaemonRolloutStage[];
}

/** A stage that has timed out may await it, too: the plan knows. */
export const isAwaitingApproval = ({ state, awaits }: DaemonRolloutStage): boolean =>
  state === 'Open' && (awaits?.reason === 'Approval' || awaits?.reason === 'Timeout');

/** `lab (passed), canary (open, awaits approval), fleet (closed)`. */
const listed = ({ stages }: StagedRollout): string =>
  `its stages are ${stages
    .map(
      ({ name, state, awaits }) =>
        `${name} (${state.toLowerCase()}${awaits?.reason === 'Approval' ? ', awaits approval' : ''})`,
    )
    .join(', ')}`;

/** One that can still be passed. */
const named = (rollout: StagedRollout, name: string): DaemonRolloutStage => {
  const { title, plan } = rollout;
  const found = rollout.stages.find((stage) => stage.name === name);
  if (!found)
    throw new CommandError(
      'NoSuchStage',
      `there is no stage "${name}" in plan ${plan} of ${title}: ${listed(rollout)}`,
    );
  if (found.state === 'Passed')
    throw new CommandError('NothingToApprove', `stage ${name} of ${title} is already passed: ${listed(rollout)}`);
  // The rollout is complete, or it is a rollback, which the stages don't hold back.
  if (found.state === 'Open' && !found.awaits)
    throw new CommandError('NothingToApprove', `stage ${name} of ${title} waits for nothing: ${listed(rollout)}`);
  return found;
};

const isLast = (rollout: StagedRollout, { name }: DaemonRolloutStage): CommandError | undefined =>
  name === REST_STAGE
    ? new CommandError(
        'NothingToApprove',
        `stage ${REST_STAGE} of ${rollout.title} has no gate, and no stage comes after it: ${listed(rollout)}`,
      )
    : undefined;

/** The stage to approve: the given one, or the one that awaits it. Throws a `CommandError` that lists the stages. */
export const stageToApprove = (rollout: StagedRollout, name: string | undefined): DaemonRolloutStage => {
  const stage = name === undefined ? rollout.stages.find(isAwaitingApproval) : named(rollout, name);
  if (!stage)
    throw new CommandError(
      'NothingToApprove',
      `no stage of ${rollout.title} awaits approval: to approve one in advance, name it with --stage; ${listed(rollout)}`,
    );
  const last = isLast(rollout, stage);
  if (last) throw last;
  return stage;
};

/** The stage to promote: the given one, or the one that is open. Throws a `CommandError` that lists the stages. */
export const stageToPromote = (rollout: StagedRollout, name: string | undefined): DaemonRolloutStage => {
  const stage =
    name === undefined
      ? rollout.stages.find(({ state, awaits }) => state === 'Open' && awaits !== undefined)
      : named(rollout, name);
  if (!stage)
    throw new CommandError('NothingToApprove', `no stage of ${rollout.title} waits for anything: ${listed(rollout)}`);
  const last = isLast(rollout, stage);
  if (last) throw last;
  return stage;
};
