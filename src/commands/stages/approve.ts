import { formatPolicyError } from '../../rollout/index.ts';
import { CommandError, type Connection, findKind, type Named, readStatus } from '../../view/index.ts';
import type {
  DaemonRolloutStage,
  DaemonRolloutStatus,
  RolloutApproval,
  RolloutApprovalSpec,
} from '../../words/index.ts';
import { type ChangeOptions, dryRunSuffix, readManaged, type Target, type Written } from '../change.ts';
import { approvalLabel, approvalsOf, createApproval, newApproval, ownName } from './approvals.ts';
import { isAwaitingApproval, type StagedRollout, stageToApprove, stageToPromote } from './choose-stage.ts';
import { policyWithPlan, requiresApproval } from './plans.ts';

export interface ApproveOptions extends ChangeOptions {
  stage?: string | undefined;
  comment?: string | undefined;
}

type StageDecision = NonNullable<RolloutApprovalSpec['decision']>;

const decisionOf = ({ spec }: RolloutApproval): StageDecision => spec.decision ?? 'Approve';

/** What differs between the two decisions. */
interface Wording {
  choose: (rollout: StagedRollout, name: string | undefined) => DaemonRolloutStage;
  /** After `stage NAME`. */
  done: string;
  /** After the revision. */
  effect: string;
}

const wordings: Readonly<Record<StageDecision, Wording>> = {
  Approve: { choose: stageToApprove, done: 'approved', effect: '' },
  Promote: {
    choose: stageToPromote,
    done: 'promoted',
    effect: ': its coverage, soak and checks are skipped',
  },
};

/** A rollout whose status is about the current template. */
interface Present {
  status: DaemonRolloutStatus;
  revision: string;
  staged: StagedRollout;
}

/** Throws a `CommandError` if no stages are known of the present rollout. */
const readStages = async (connection: Connection, { kind, name, object, policy }: Target): Promise<Present> => {
  const { namespace, edgeset } = connection;
  const title = `${kind.title} ${namespace}/${name}`;
  const typed = `${kind.short}/${name}`;
  const status = await readStatus(connection, kind.rolloutName(name), object.metadata?.uid);
  if (!status)
    throw new CommandError(
      'NotFound',
      `no manager has recorded a rollout of ${title} yet: check that edgeset-manager is running and that it ${kind.servesHint}`,
    );
  // A decision must be about the template that is set now.
  if ((status.daemonSetGeneration ?? 0) < (object.metadata?.generation ?? 0) || !status.target)
    throw new CommandError(
      'Changed',
      `the manager has not observed the current template of ${title} yet: check that it is running, and try again`,
    );
  const { plan, stages = [] } = status;
  if (plan === undefined)
    throw new CommandError(
      'NoSuchStage',
      `${title} has no rollout plan, and so no stages: name one in its annotation edgeset.io/rollout-plan`,
    );
  if (stages.length === 0) {
    const read = policy.kind === 'off' ? undefined : await policyWithPlan(connection, policy, {});
    if (read?.kind === 'invalid')
      throw new CommandError(
        'NoSuchStage',
        `${title} has no stages, because its rollout policy is not valid: ${read.errors.map(formatPolicyError).join(' ')}`,
      );
    throw new CommandError(
      'NoSuchStage',
      `plan ${plan} gives ${title} no stages: add spec.stages to it; if it has them, "${edgeset(`explain ${typed}`)}" says why it is not followed`,
    );
  }
  return { status, revision: status.target.hash, staged: { title, plan, stages } };
};

/** Why the stage may not be passed at once. */
const notesOn = (
  decision: StageDecision,
  { kind, name, pause }: Target,
  { halted }: DaemonRolloutStatus,
  stage: DaemonRolloutStage,
  approval: 'given' | 'not required' | 'missing' | 'unknown',
  edgeset: Connection['edgeset'],
): string[] => {
  const typed = `${kind.short}/${name}`;
  const notes: string[] = [];
  if (stage.state === 'Closed') notes.push(`Stage ${stage.name} is not open yet: this counts once it is.`);
  if (halted) notes.push(`The rollout is halted: nothing is promoted until "${edgeset(`resume ${typed}`)}".`);
  else if (pause !== 'off')
    notes.push(`The rollout is paused: nothing is promoted until "${edgeset(`resume ${typed}`)}".`);
  else if (decision === 'Approve' && stage.awaits && !isAwaitingApproval(stage))
    notes.push(`Stage ${stage.name} ${stage.awaits.message}.`);
  const toApprove = `run "${edgeset(`approve ${typed} --stage ${stage.name}`)}"`;
  if (decision === 'Promote' && approval === 'missing')
    notes.push(`The plan also requires an approval of stage ${stage.name}: ${toApprove}.`);
  if (decision === 'Promote' && approval === 'unknown')
    notes.push(`If the plan requires an approval of stage ${stage.name}, it is still to be given: ${toApprove}.`);
  return notes;
};

/** Creates the object that records the decision; returns the one that is there if it was made before. */
const decideOn = async (
  decision: StageDecision,
  connection: Connection,
  named: Named,
  { stage: wanted, comment, dryRun = 'none' }: ApproveOptions,
): Promise<Written> => {
  const { choose, done, effect } = wordings[decision];
  const { edgeset } = connection;
  const kind = await findKind(connection, named);
  const target = await readManaged(connection, kind, named.name);
  const { status, revision, staged } = await readStages(connection, target);
  const stage = choose(staged, wanted);
  const required = await requiresApproval(connection, staged.plan, stage.name);
  if (decision === 'Approve' && required === false)
    throw new CommandError(
      'NothingToApprove',
      `plan ${staged.plan} requires no approval of stage ${stage.name}: "${edgeset(`promote ${kind.short}/${named.name} --stage ${stage.name}`)}" skips what the stage waits for`,
    );
  const about = {
    daemonSet: { apiGroup: kind.resource.group as 'apps' | 'apps.kruise.io', name: named.name },
    revision,
    stage: stage.name,
  };
  const given = await approvalsOf(connection, about);
  const same = given.find((one) => decisionOf(one) === decision);
  let approval: RolloutApproval | undefined = same;
  if (!approval) {
    const approvedBy = await ownName(connection);
    approval = newApproval(connection, { ...about, decision, approvedBy, ...(comment !== undefined && { comment }) });
    if (dryRun !== 'client') approval = await createApproval(connection, approval, dryRun === 'server');
  }
  const { metadata, spec } = approval;
  const at = `at revision ${revision}`;
  const what = same
    ? `is already ${done} by ${spec.approvedBy} ${at}`
    : `${done} ${at}${effect}${dryRunSuffix(dryRun)}`;
  const isApproved = given.some((one) => decisionOf(one) === 'Approve');
  const approved = isApproved ? 'given' : required === undefined ? 'unknown' : required ? 'missing' : 'not required';
  return {
    label: `${approvalLabel}/${metadata.name ?? metadata.generateName}`,
    object: approval,
    lines: [`${kind.label}/${named.name} stage ${stage.name} ${what}`],
    notes: notesOn(decision, target, status, stage, approved, edgeset),
    ...(same && { isSame: true }),
  };
};

/** Approves a stage of the present rollout, in the name of the user. */
export const approve = (connection: Connection, named: Named, options: ApproveOptions): Promise<Written> =>
  decideOn('Approve', connection, named, options);

/** Promotes a stage of the present rollout by hand, in the name of the user. */
export const promote = (connection: Connection, named: Named, options: ApproveOptions): Promise<Written> =>
  decideOn('Promote', connection, named, options);
