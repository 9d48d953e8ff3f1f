import type { Summary } from '../decision/decide.ts';
import type { Hold } from '../decision/hold.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { explainHold } from './explain-hold.ts';

/** A condition without its times: lastTransitionTime changes only with the status. */
export interface ConditionState {
  type: 'Ready' | 'Reconciling' | 'Stalled' | 'Complete' | 'Paused' | 'Halted';
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

/** Reason of conditions: it is not known yet whether the newest template has a revision. */
export const TEMPLATE_NOT_OBSERVED = 'TemplateNotObserved';

const reasonOfHold = {
  unsynced: 'NotSynced',
  unobserved: TEMPLATE_NOT_OBSERVED,
  invalid: 'InvalidPolicy',
  deleted: 'Deleted',
  owner: 'OwnerDecides',
  manual: 'OnDelete',
  paused: 'Paused',
  frozen: 'ZeroBudget',
  halted: 'Halted',
  waiting: 'WaitingForSuspects',
} as const;

/** How many online nodes the user keeps on an older revision, once all others are updated; 0 before. */
const leftBehind = ({ tally }: Ledger): number => {
  const left = (tally.causes.get('node-selector') ?? 0) + (tally.causes.get('partition') ?? 0);
  return tally.phases.updated + left === tally.online ? left : 0;
};

/** People update the nodes, not the manager. */
const isForOthers = (hold: Hold | undefined): boolean => hold?.kind === 'owner' || hold?.kind === 'manual';

/** The reason that most conditions share: where the rollout stands. */
const reasonFor = (ledger: Ledger, { complete, hold }: Summary): string => {
  if (hold?.kind === 'invalid') return reasonOfHold.invalid;
  if (complete) return 'AllOnlineNodesUpdated';
  if (hold && !isForOthers(hold)) return reasonOfHold[hold.kind];
  if (leftBehind(ledger) > 0) return 'LeftOnOldRevision';
  return hold ? reasonOfHold[hold.kind] : 'InProgress';
};

/** The conditions, including the three of kstatus: Ready, Reconciling and Stalled. */
export const conditionsOf = (ledger: Ledger, summary: Summary): ConditionState[] => {
  const { hold, complete } = summary;
  const reason = reasonFor(ledger, summary);
  const explained = hold ? explainHold(hold, ledger.policy.words) : undefined;
  // It does not change while nodes come and go, since a change emits an Event.
  const why = explained ? `${explained.what}. ${explained.remedy}`.trim() : '';
  const message = explained ? `${why} ${progress(ledger)}` : progress(ledger);
  const stalled = hold?.kind === 'invalid' || hold?.kind === 'halted';
  // The manager still has to announce the target to pods, or waits for new pods to start.
  const { tally } = ledger;
  const ours = ledger.unannounced().size + tally.phases.updating + tally.ownersApproved;
  const othersOnly = isForOthers(hold) && ours === 0;
  const resting = complete || stalled || reason === 'LeftOnOldRevision' || othersOnly;
  const stopped = hold?.kind === 'paused' || hold?.kind === 'frozen';
  const halted = hold?.kind === 'halted' ? hold.halt : undefined;
  return [
    { type: 'Ready', status: complete && !stalled, reason, message },
    { type: 'Reconciling', status: !resting, reason, message },
    { type: 'Stalled', status: stalled, reason: stalled ? reason : 'NotStalled', message: stalled ? why : '' },
    { type: 'Complete', status: complete, reason, message: progress(ledger) },
    {
      type: 'Paused',
      status: stopped,
      reason: stopped ? reason : 'NotPaused',
      message: stopped ? why : '',
    },
    {
      type: 'Halted',
      status: halted !== undefined,
      reason: halted ? halted.reason : hold?.kind === 'waiting' ? reason : 'NotHalted',
      message: halted || hold?.kind === 'waiting' ? why : '',
    },
  ];
};

/** Why the manager has nothing left to do although the rollout may not be complete; undefined while it has. */
export const idleReason = (ledger: Ledger, summary: Summary): string | undefined => {
  const reconciling = conditionsOf(ledger, summary).find(({ type }) => type === 'Reconciling');
  return reconciling?.status === false ? reconciling.reason : undefined;
};

/** A few words for the STATUS column. A stopped rollout shows what stops it even if nothing is left to do. */
export const summaryText = (ledger: Ledger, { hold, complete, breaker }: Summary): string => {
  const { tally } = ledger;
  const done = tally.phases.offline > 0 ? `Complete (${tally.phases.offline} offline)` : 'Complete';
  if (!hold || hold.kind === 'owner' || hold.kind === 'manual') {
    if (complete) return done;
    const left = leftBehind(ledger);
    if (left > 0) return `${left} left on old revision`;
    if (hold?.kind === 'manual') return `On delete: ${tally.phases.outdated + tally.phases.broken} outdated`;
    return hold && tally.ownersAsked > 0
      ? `Waiting for ${tally.ownersAsked} owner${tally.ownersAsked === 1 ? '' : 's'}`
      : 'Rolling out';
  }
  switch (hold.kind) {
    case 'invalid':
      return 'Invalid policy';
    case 'deleted':
      return 'Being deleted';
    case 'halted':
      return hold.halt.reason === 'RolledBack' ? 'Halted: rolled back before' : `Halted: ${breaker.failures} failed`;
    case 'unsynced':
      return 'Waiting for the cache to sync';
    case 'unobserved':
      return 'Waiting for the DaemonSet controller';
    case 'waiting':
      return `Waiting: ${breaker.suspects} suspect, ${breaker.failures} failed`;
    case 'paused':
      return complete ? done : 'Paused';
    case 'frozen':
      return complete ? done : 'Frozen: budget is zero';
  }
};
