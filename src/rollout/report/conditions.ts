import { annotation, cut, type StageWait } from '../../words/index.ts';
import type { Summary } from '../decision/decide.ts';
import { awaitsProof } from '../decision/first-wave.ts';
import type { Hold, OutsideHold } from '../decision/hold.ts';
import type { StageStatus } from '../decision/stages.ts';
import type { Ledger } from '../fleet/ledger-types.ts';
import { coverageText, isEverywhere } from './coverage.ts';
import { explainHold, type HoldExplanation } from './explain-hold.ts';
import { driftText, namesOf, REMEDY_OF_DRIFT } from './image-drift.ts';
import { type DaemonSetName, runHere } from './remedy-command.ts';

/** A condition without its times: lastTransitionTime changes only with the status. */
export interface ConditionState {
  type: 'Ready' | 'Reconciling' | 'Stalled' | 'Complete' | 'AllNodesUpdated' | 'Paused' | 'Halted' | 'ImageDrift';
  status: boolean;
  reason: string;
  message: string;
}

const owners = (count: number): string => `${count} owner${count === 1 ? ' is' : 's are'}`;

/** `12 of 15 online nodes run web-6d8c (3 offline)`. */
const progress = ({ tally, state }: Ledger): string => {
  const away = tally.phases.offline > 0 ? `, ${tally.phases.offline} offline` : '';
  const asked = tally.ownersAsked > 0 ? `; ${owners(tally.ownersAsked)} asked` : '';
  return `${tally.phases.updated} of ${tally.online} online nodes run ${state.target?.name ?? 'the target'}${away}${asked}.`;
};

/** Why no more nodes are being updated at the start; it does not change while nodes come and go. */
const trial = ({ tally }: Ledger, { firstWave, hold }: Summary): string =>
  !hold && awaitsProof(firstWave) && firstWave.proven === 0 && tally.phases.outdated > 0
    ? ` The other nodes follow once the target is available on one of the first ${firstWave.first} (${annotation.firstWave}).`
    : '';

/** Reason of conditions: it is not known yet whether the newest template has a revision. */
export const TEMPLATE_NOT_OBSERVED = 'TemplateNotObserved';

/** Reason of conditions: something about the DaemonSet cannot be computed. */
export const INTERNAL_ERROR = 'InternalError';

/** Reasons of the conditions of a rollout that is held. */
export const reasonOfHold = {
  unsynced: 'NotSynced',
  unobserved: TEMPLATE_NOT_OBSERVED,
  invalid: 'InvalidPolicy',
  error: INTERNAL_ERROR,
  refused: 'FailedCreate',
  deleted: 'Deleted',
  owner: 'OwnerDecides',
  manual: 'OnDelete',
  paused: 'Paused',
  frozen: 'ZeroBudget',
  halted: 'Halted',
  waiting: 'WaitingForSuspects',
  window: 'OutsideWindow',
} as const;

/** How many online nodes the user keeps on an older revision, once all others are updated; 0 before. */
const leftBehind = ({ tally }: Ledger): number => {
  const left = (tally.causes.get('node-selector') ?? 0) + (tally.causes.get('partition') ?? 0);
  return tally.phases.updated + left === tally.online ? left : 0;
};

/** Everything that the open stages allow is done, and nodes of others wait. */
const isGated = ({ tally }: Ledger): boolean => {
  const { updating, outdated, broken, settling } = tally.phases;
  return (tally.causes.get('stage') ?? 0) > 0 && updating + outdated + broken + settling === 0;
};

const stageReasons = {
  Coverage: 'StageUpdating',
  MinNodes: 'StageUpdating',
  Soak: 'StageSoaking',
  Checks: 'StageChecking',
  Approval: 'AwaitingApproval',
  Timeout: 'StageTimedOut',
  Held: 'InProgress',
} as const satisfies Record<StageWait, string>;

const stageSummary = ({ name, wait }: StageStatus): string =>
  ({
    Coverage: `Stage ${name}: waiting for its nodes`,
    MinNodes: `Stage ${name}: waiting for its nodes`,
    Soak: `Stage ${name}: soaking`,
    Checks: `Stage ${name}: checking`,
    Approval: `Stage ${name}: waiting for approval`,
    Timeout: `Stage ${name}: timed out`,
    Held: `Stage ${name}`,
  })[wait];

/** Holds that somebody has to end. */
export const stalledHolds: ReadonlySet<Hold['kind']> = new Set<Hold['kind']>(['invalid', 'error', 'refused', 'halted']);

/** People update the nodes, not the manager. */
const isForOthers = (hold: Hold | undefined): boolean => hold?.kind === 'owner' || hold?.kind === 'manual';

/** While the API server refuses new pods, the rollout is stuck on that, whatever else would hold it. */
export const withRefusal = (summary: Summary): Summary => {
  const { hold, complete, refusal } = summary;
  if (refusal === undefined || complete || hold?.kind === 'invalid' || hold?.kind === 'error') return summary;
  return { ...summary, hold: { kind: 'refused', message: refusal } };
};

/** The reason that most conditions share: where the rollout stands. */
const reasonFor = (ledger: Ledger, { complete, hold, stage }: Summary): string => {
  if (hold?.kind === 'invalid' || hold?.kind === 'error') return reasonOfHold[hold.kind];
  if (complete) return 'AllOnlineNodesUpdated';
  if (hold && !isForOthers(hold)) return reasonOfHold[hold.kind];
  if (stage && isGated(ledger)) return stageReasons[stage.wait];
  if (leftBehind(ledger) > 0) return 'LeftOnOldRevision';
  return hold ? reasonOfHold[hold.kind] : 'InProgress';
};

interface Standing {
  reason: string;
  /** Reason of the conditions about what holds the rollout, which may hold it after the last update, too. */
  cause: string;
  /** What holds the rollout, and the remedy; it does not change while nodes come and go, since a change emits an Event. */
  why: string;
  /** Stuck until somebody acts. */
  stalled: boolean;
  /** The manager has nothing left to do, although the rollout may not be complete. */
  resting: boolean;
  /** At rest as it should be: nobody needs to wait for the rollout any longer. */
  ready: boolean;
  stopped: boolean;
}

const isStalled = ({ hold }: Summary): boolean => hold !== undefined && stalledHolds.has(hold.kind);

const isResting = (ledger: Ledger, summary: Summary): boolean => {
  const { tally } = ledger;
  const { hold, complete } = summary;
  // The manager still has to announce the target to pods, or waits for new pods to start.
  const ours = ledger.unannounced().size + tally.phases.updating + tally.ownersApproved;
  const othersOnly = isForOthers(hold) && ours === 0;
  return complete || isStalled(summary) || reasonFor(ledger, summary) === 'LeftOnOldRevision' || othersOnly;
};

/** A stage that waits for its people names the command for it. */
const gateOf = ({ name, message, wait }: StageStatus): HoldExplanation => ({
  what: `Stage ${name} ${message}`,
  remedy: '',
  ...(wait === 'Approval' && { commands: [{ verb: 'approve', stage: name }] }),
});

const sentencesOf = ({ what, remedy, commands }: HoldExplanation, daemonSet: DaemonSetName): string =>
  [`${what}.`, remedy, runHere(commands, daemonSet)].filter((part) => part !== '').join(' ');

const standing = (ledger: Ledger, summary: Summary, daemonSet: DaemonSetName): Standing => {
  const { tally } = ledger;
  const { hold, complete, stage } = summary;
  const reason = reasonFor(ledger, summary);
  const gate = stage && isGated(ledger) ? gateOf(stage) : undefined;
  const explained = (hold && !isForOthers(hold)) || !gate ? hold && explainHold(hold, ledger.policy.words) : gate;
  const stalled = isStalled(summary);
  const resting = isResting(ledger, summary);
  return {
    reason,
    cause: hold ? reasonOfHold[hold.kind] : reason,
    why: explained ? sentencesOf(explained, daemonSet) : '',
    stalled,
    resting,
    // As a StatefulSet at its partition: what may not be updated has to work, too.
    ready: resting && !stalled && (complete || tally.occupied === 0),
    stopped: hold?.kind === 'paused' || hold?.kind === 'frozen',
  };
};

/** The manager has nothing left to do, although the rollout may not be complete. */
export const isAtRest = (ledger: Ledger, summary: Summary): boolean => isResting(ledger, withRefusal(summary));

const stalledCondition = ({ stalled, cause, why }: Standing): ConditionState => ({
  type: 'Stalled',
  status: stalled,
  reason: stalled ? cause : 'NotStalled',
  message: stalled ? why : '',
});

const readyCondition = ({ ready, stalled, reason, cause }: Standing, message: string): ConditionState => ({
  type: 'Ready',
  status: ready,
  reason: stalled ? cause : reason,
  message,
});

const pausedCondition = ({ stopped, cause, why }: Standing): ConditionState => ({
  type: 'Paused',
  status: stopped,
  reason: stopped ? cause : 'NotPaused',
  message: stopped ? why : '',
});

/** Whether nodes run different content under the name of one image of the target. */
const driftCondition = ({ drift }: Summary, details: string): ConditionState => ({
  type: 'ImageDrift',
  status: drift.length > 0,
  reason: drift.length > 0 ? 'ImagesDiffer' : 'ImagesAgree',
  message: drift.length > 0 ? details : '',
});

/** The conditions of the DaemonRollout, including the three of kstatus: Ready, Reconciling and Stalled. */
export const conditionsOf = (ledger: Ledger, summary: Summary, daemonSet: DaemonSetName): ConditionState[] => {
  const { hold, complete } = summary;
  const stand = standing(ledger, withRefusal(summary), daemonSet);
  const held = standing(ledger, summary, daemonSet);
  const { reason, why } = stand;
  const message = `${why ? `${why} ` : ''}${progress(ledger)}${trial(ledger, summary)}`;
  const halted = hold?.kind === 'halted' ? hold.halt : undefined;
  const everywhere = isEverywhere(ledger, summary);
  return [
    readyCondition(stand, message),
    { type: 'Reconciling', status: !stand.resting, reason, message },
    stalledCondition(stand),
    { type: 'Complete', status: complete, reason, message: progress(ledger) },
    {
      type: 'AllNodesUpdated',
      status: everywhere,
      reason: everywhere ? 'AllNodesUpdated' : complete ? 'OfflineNodesOutdated' : reason,
      message: coverageText(ledger),
    },
    pausedCondition(held),
    {
      type: 'Halted',
      status: halted !== undefined,
      reason: halted ? halted.reason : hold?.kind === 'waiting' ? held.cause : 'NotHalted',
      message: halted || hold?.kind === 'waiting' ? held.why : '',
    },
    driftCondition(summary, `${driftText(summary.drift)} ${REMEDY_OF_DRIFT}`),
  ];
};

/** Images of few DaemonSets ever differ: the others carry no condition that says so. */
export const isOnDaemonSet = (
  { type, status }: Pick<ConditionState, 'type' | 'status'>,
  present: readonly { type: string }[] = [],
): boolean => type !== 'ImageDrift' || status || present.some((condition) => condition.type === type);

/** Such a condition has no field for the generation that it is about. */
const observed = (generation: number): string => `Observed generation ${generation}.`;

/** The generation of a DaemonSet of either kind for which its condition Ready reports an internal error. */
export const failedGeneration = (
  conditions: readonly { type: string; reason?: string; message?: string; observedGeneration?: number }[] = [],
): number | undefined => {
  const ready = conditions.find(({ type, reason }) => type === 'Ready' && reason === INTERNAL_ERROR);
  return ready && (ready.observedGeneration ?? Number(/\d+/.exec(ready.message ?? '')?.[0]));
};

/** `conditionsOnError` for a DaemonSet of another controller, as `conditionsOnDaemonSet` has them. */
export const errorOnDaemonSet = (what: string, { generation }: { generation: number }): ConditionState[] =>
  conditionsOnError(what).map((state) => {
    if (state.type === 'Stalled') return { ...state, message: cut(state.message) };
    return { ...state, message: state.type === 'Ready' ? observed(generation) : '' };
  });

/**
 * The conditions that a DaemonSet of another controller carries, for tools that look at nothing else. They change with the
 * stand of the rollout and not with its progress, so that they cost a few writes for each rollout. The message of Ready is
 * the generation that all of them are about.
 */
export const conditionsOnDaemonSet = (
  ledger: Ledger,
  summary: Summary,
  {
    generation,
    rollout,
    daemonSet,
    present,
  }: {
    generation: number;
    rollout: string;
    daemonSet: DaemonSetName;
    /** Those that it has. */
    present?: readonly { type: string }[];
  },
): ConditionState[] => {
  const { hold } = summary;
  // Every rollout begins so, and ends it within moments: that is worth no write of its own.
  const isStarting = hold?.kind === 'unobserved' || hold?.kind === 'unsynced';
  const stand = standing(ledger, summary, daemonSet);
  const { reason, why, resting } = isStarting ? { ...stand, reason: 'InProgress', why: '' } : stand;
  const details = `${why} DaemonRollout ${rollout} shows the progress.`.trim();
  const states: ConditionState[] = [
    readyCondition({ ...stand, reason }, observed(generation)),
    { type: 'Reconciling', status: !resting, reason, message: resting ? '' : details },
    stalledCondition(stand),
    pausedCondition(stand),
    // How many nodes run which changes too often for this status.
    driftCondition(
      summary,
      `Nodes run different content under the name of ${namesOf(summary.drift)}. DaemonRollout ${rollout} shows which.`,
    ),
  ];
  return states
    .filter((state) => isOnDaemonSet(state, present))
    .map((state) => ({ ...state, message: cut(state.message) }));
};

const remedyOfError = explainHold({ kind: 'error', what: '' }).remedy;

/**
 * The conditions while something about the DaemonSet cannot be computed, so that nothing of it is updated. They follow from the
 * error alone: what a ledger holds may be the very thing that cannot be computed.
 */
export const conditionsOnError = (what: string): ConditionState[] => {
  const message = `${what}. ${remedyOfError}`;
  const states: readonly [ConditionState['type'], boolean][] = [
    ['Ready', false],
    ['Reconciling', false],
    ['Stalled', true],
  ];
  return states.map(([type, status]) => ({ type, status, reason: INTERNAL_ERROR, message }));
};

/** What the manager reports by these conditions; undefined: nothing of the kind. */
export const reportedError = (
  conditions: readonly { type: string; status: string; reason: string; message: string }[] = [],
): OutsideHold | undefined => {
  const stalled = conditions.find(({ type, status }) => type === 'Stalled' && status === 'True');
  if (stalled?.reason !== INTERNAL_ERROR) return undefined;
  return { kind: 'error', what: stalled.message.replace(`. ${remedyOfError}`, '') };
};

/** Words for the STATUS column while something about the DaemonSet cannot be computed. */
export const ERROR_SUMMARY = 'Internal error';

/** A few words for the STATUS column. A stopped rollout shows what stops it even if nothing is left to do. */
export const summaryText = (ledger: Ledger, summary: Summary): string => {
  const { hold, complete, breaker, stage } = withRefusal(summary);
  const { tally } = ledger;
  const { words } = ledger.policy;
  const done = tally.phases.offline > 0 ? `Complete (${tally.phases.offline} offline)` : 'Complete';
  if (!hold || hold.kind === 'owner' || hold.kind === 'manual') {
    if (complete) return done;
    if (stage && isGated(ledger)) return stageSummary(stage);
    const left = leftBehind(ledger);
    if (left > 0) return `${left} left on old revision`;
    if (hold?.kind === 'manual') return `On delete: ${tally.phases.outdated + tally.phases.broken} outdated`;
    return hold && tally.ownersAsked > 0
      ? `Waiting for ${tally.ownersAsked} owner${tally.ownersAsked === 1 ? '' : 's'}`
      : 'Rolling out';
  }
  switch (hold.kind) {
    case 'invalid':
      return hold.what ?? 'Invalid policy';
    case 'error':
      return ERROR_SUMMARY;
    case 'refused':
      return 'Pods are refused';
    case 'deleted':
      return 'Being deleted';
    case 'halted':
      if (hold.halt.reason === 'CheckFailed') return `Halted: check ${hold.halt.check} failed`;
      if (hold.halt.reason === 'ImageDrift') return 'Halted: images differ between nodes';
      if (hold.halt.reason === 'RolledBack') return 'Halted: rolled back before';
      // The nodes may work again; the rollout stays halted until somebody says that it may continue.
      return breaker.failures > 0 ? `Halted: ${breaker.failures} failed` : 'Halted: failed nodes recovered';
    case 'unsynced':
      return 'Waiting for the cache to sync';
    case 'unobserved':
      return `Waiting for the ${words.podController}`;
    case 'waiting':
      return `Waiting: ${breaker.suspects} suspect, ${breaker.failures} failed`;
    case 'paused':
      return complete ? `${done}, paused` : 'Paused';
    case 'window':
      return hold.freeze === undefined ? 'Waiting for a window' : 'Frozen by the plan';
    case 'frozen':
      return complete ? `${done}, budget is zero` : 'Frozen: budget is zero';
  }
};
