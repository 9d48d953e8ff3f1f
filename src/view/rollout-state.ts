import type { ConditionState } from '../rollout/index.ts';
import type { Doubt } from './daemon-sets.ts';
import type { RolloutState } from './states.ts';

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
  StageTimedOut: 'approval',
  StageSoaking: 'clock',
  OutsideWindow: 'clock',
  WaitingForSuspects: 'suspects',
  OwnerDecides: 'owners',
  OnDelete: 'manual',
  LeftOnOldRevision: 'kept',
};

/** Where a rollout stands, by the conditions of its status, or of a reading: the first thing that a person should know of it. */
export const stateOf = (
  conditions: readonly (AnyCondition | ConditionState)[] | undefined,
  doubt?: Doubt,
): RolloutState => {
  if (doubt !== undefined || !conditions) return 'unserved';
  const find = (wanted: string): AnyCondition | undefined => conditions.find(({ type }) => type === wanted);
  const reasonIf = (type: string): string => {
    const condition = find(type);
    return condition?.status === true || condition?.status === 'True' ? condition.reason : '';
  };
  const ready = find('Ready')?.reason ?? '';
  return stuck[reasonIf('Stalled')] ?? stuck[reasonIf('Paused')] ?? standing[ready] ?? 'running';
};
