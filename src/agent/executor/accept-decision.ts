import { DecisionError, type DecisionStore } from '../decisions/index.ts';
import type { SafeCheck } from '../safe-check/index.ts';
import type { AgentBackend, Choice, DecideResult } from '../types.ts';
import type { UpdateTracker } from '../updates/index.ts';
import type { AgentEvents } from './events.ts';
import { notComputableText } from './refusal.ts';

export interface DecideOptions {
  decisions: DecisionStore;
  tracker: Pick<UpdateTracker, 'get'>;
  safe: Pick<SafeCheck, 'configured'>;
  events: AgentEvents;
}

type Refused = Extract<DecideResult, { kind: 'refused' }>;

const refused = (status: Refused['status'], reason: string, message: string): Refused => ({
  kind: 'refused',
  status,
  reason,
  message,
});

const describe = (choice: Choice): string => {
  if (choice.choice === 'postpone') return `postponed until ${choice.until}`;
  if (choice.choice === 'reject') return 'rejected';
  const { when } = choice;
  if (when.type === 'window') return `approved between ${when.from} and ${when.to}`;
  return when.type === 'safe' ? 'approved as soon as the device is safe' : 'approved';
};

/** Takes an owner's decision for the revision that the owner was shown, and saves it before it responds. */
export const createAcceptDecision = ({ decisions, tracker, safe, events }: DecideOptions): AgentBackend['decide'] => {
  return async ({ namespace, daemonSet }, revision, choice, caller, reauthorize) => {
    // First, because anything awaited after the checks could invalidate them.
    const why = await reauthorize();
    if (why !== undefined) return refused(403, 'CallerGone', why);
    if (choice.choice === 'approve' && choice.when.type === 'safe' && !safe.configured)
      return refused(
        422,
        'BadDecision',
        'when.type cannot be safe: no safety check is configured on this device (--safe-check)',
      );
    const tracked = tracker.get({ namespace, daemonSet });
    const name = `${namespace}/${daemonSet}`;
    if (!tracked) return refused(404, 'NoSuchDaemonSet', `DaemonSet ${name} has no updates to decide on this node`);
    const { announced, running, updateInProgress, terms } = tracked.record;
    // With a target that is known from before, a decision is saved and waits, as it does offline.
    if (tracked.problem !== undefined && announced.revision === '')
      return refused(409, 'NotComputable', notComputableText(tracked.problem));
    const inProgress = refused(409, 'UnderWay', `The update of ${name} to ${revision} is in progress`);
    if (announced.revision !== revision)
      return refused(
        409,
        'OtherRevision',
        `Revision ${revision} of ${name} is not the target: ${announced.revision} is`,
      );
    const before = decisions.current({ namespace, daemonSet });
    if (before?.state === 'acting' || updateInProgress) return inProgress;
    if (announced.need === 'no')
      return refused(409, 'NothingToDecide', `There is nothing to decide for ${name}: ${announced.reason}`);
    // An owner who has decided can change the decision; an owner who has not is not asked.
    if (announced.need === 'withheld' && before?.revision !== revision)
      return refused(409, 'NotOffered', `Revision ${revision} of ${name} is not offered for now: ${announced.reason}`);
    if (terms?.ota === false)
      return refused(
        409,
        'NotOffered',
        `Revision ${revision} of ${name} is not offered: its DaemonSet is no longer in OTA mode`,
      );
    if (announced.need === 'halted' && choice.choice === 'approve')
      return refused(403, 'Halted', `The rollout of revision ${revision} of ${name} is halted`);
    try {
      const decision = await decisions.decide({
        namespace,
        daemonSet,
        revision,
        choice,
        by: caller,
        fromRevision: running.revision || null,
      });
      const note = `${caller.identity} ${describe(choice)} the update to ${revision}.`;
      events.record(tracked.record, 'OwnerDecided', String(decision.id), note);
      return { kind: 'accepted', status: choice.choice === 'approve' ? 202 : 201, decision };
    } catch (error) {
      if (error instanceof DecisionError && error.code === 'Acting') return inProgress;
      throw error;
    }
  };
};
