import { toTimestamp } from '../../rollout/index.ts';
import { actsAt, type Deadline } from '../decisions/index.ts';
import type { Choice, DecideResult, Decision, Update } from '../types.ts';
import type { TrackedUpdate } from '../updates/index.ts';
import { notComputableText } from './refusal.ts';

type Refused = Extract<DecideResult, { kind: 'refused' }>;

export const refused = (status: Refused['status'], reason: string, message: string): Refused => ({
  kind: 'refused',
  status,
  reason,
  message,
});

export interface ChoiceFacts {
  tracked: TrackedUpdate;
  /** The decision that is open or acting. */
  decision: Decision | undefined;
  deadline: Deadline | undefined;
}

/** Why an owner can't decide this about this revision; undefined if it is accepted. */
export const refusalOf = (
  { tracked, decision, deadline }: ChoiceFacts,
  revision: string,
  choice: Choice['choice'],
): Refused | undefined => {
  const { namespace, daemonSet, announced, updateInProgress, terms } = tracked.record;
  const name = `${namespace}/${daemonSet}`;
  // With a target that is known from before, a decision is saved and waits, as it does offline.
  if (tracked.problem !== undefined && announced.revision === '')
    return refused(409, 'NotComputable', notComputableText(tracked.problem));
  if (announced.revision !== revision)
    return refused(409, 'OtherRevision', `Revision ${revision} of ${name} is not the target: ${announced.revision} is`);
  if (decision?.state === 'acting' || updateInProgress) return underWay(tracked, revision);
  if (announced.need === 'no')
    return refused(409, 'NothingToDecide', `There is nothing to decide for ${name}: ${announced.reason}`);
  // An owner who has decided can change the decision; an owner who has not is not asked.
  if (announced.need === 'withheld' && decision?.revision !== revision)
    return refused(409, 'NotOffered', `Revision ${revision} of ${name} is not offered for now: ${announced.reason}`);
  if (terms?.ota === false)
    return refused(
      409,
      'NotOffered',
      `Revision ${revision} of ${name} is not offered: its DaemonSet is no longer in OTA mode`,
    );
  if (announced.need === 'halted' && choice === 'approve')
    return refused(403, 'Halted', `The rollout of revision ${revision} of ${name} is halted`);
  // It would be installed all the same.
  if (deadline && choice === 'reject')
    return refused(
      409,
      'Required',
      `Revision ${revision} of ${name} is required: the deadline installs it at ${toTimestamp(actsAt(deadline))}`,
    );
  return undefined;
};

export const underWay = ({ record: { namespace, daemonSet } }: TrackedUpdate, revision: string): Refused =>
  refused(409, 'UnderWay', `The update of ${namespace}/${daemonSet} to ${revision} is in progress`);

/** What the owner is offered. */
export const choicesOf = (facts: ChoiceFacts, tonight: Update['choices']['tonight']): Update['choices'] => {
  const { revision } = facts.tracked.record.announced;
  const accepts = (choice: Choice['choice']): boolean => refusalOf(facts, revision, choice) === undefined;
  const approve = accepts('approve');
  return { approve, postpone: accepts('postpone'), reject: accepts('reject'), tonight: approve ? tonight : null };
};
