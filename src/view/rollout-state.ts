import type { ConditionState } from '../rollout/index.ts';
import type { DaemonRolloutStatus, StageWait } from '../words/index.ts';
import type { Doubt } from './daemon-sets.ts';
import { openStageOf } from './stages.ts';
import type { RolloutState } from './states.ts';
import { type Tone, toneOfState } from './tones.ts';

interface AnyCondition {
  type: string;
  /** `True`, or whether it holds. */
  status: string | boolean;
  reason: string;
}

/** Reasons of Stalled, and of Paused. */
const stuck: Readonly<Record<string, RolloutState>> = {
  Halted: 'halted',
  InvalidPolicy: 'invalid',
  InternalError: 'error',
  FailedCreate: 'refused',
  ZeroBudget: 'frozen',
  Paused: 'paused',
};

/** Reasons of Ready, of a rollout that is not stuck. */
const standing: Readonly<Record<string, RolloutState>> = {
  AllOnlineNodesUpdated: 'complete',
  AwaitingApproval: 'approval',
  StageTimedOut: 'timedOut',
  StageSoaking: 'clock',
  OutsideWindow: 'clock',
  WaitingForSuspects: 'suspects',
  OwnerDecides: 'owners',
  OnDelete: 'manual',
  LeftOnOldRevision: 'kept',
  Deleted: 'deleted',
  NotSynced: 'unserved',
  TemplateNotObserved: 'unserved',
};

/** A stage waits for a person, although nodes elsewhere may still be changing. */
const awaited: Readonly<Partial<Record<StageWait, RolloutState>>> = { Approval: 'approval', Timeout: 'timedOut' };

/**
 * Where a rollout stands, by the conditions of its status, or of a reading: the first thing that a person should know of it.
 * `wait`: what its open stage waits for.
 */
export const stateOf = (
  conditions: readonly (AnyCondition | ConditionState)[] | undefined,
  { doubt, wait }: { doubt?: Doubt | undefined; wait?: StageWait | undefined } = {},
): RolloutState => {
  if (doubt !== undefined || !conditions) return 'unserved';
  const find = (wanted: string): AnyCondition | undefined => conditions.find(({ type }) => type === wanted);
  const reasonIf = (type: string): string => {
    const condition = find(type);
    return condition?.status === true || condition?.status === 'True' ? condition.reason : '';
  };
  const ready = find('Ready')?.reason ?? '';
  const held = stuck[reasonIf('Stalled')] ?? stuck[reasonIf('Paused')];
  const state = held ?? standing[ready] ?? 'running';
  if (held || state === 'complete' || state === 'deleted') return state;
  return (wait && awaited[wait]) ?? state;
};

/** What the state of a rollout asks of the reader, as a terminal shows it. */
export const toneOfStatus = ({ conditions, stages }: DaemonRolloutStatus): Tone | undefined =>
  toneOfState(stateOf(conditions, { wait: openStageOf(stages)?.awaits?.reason }));
