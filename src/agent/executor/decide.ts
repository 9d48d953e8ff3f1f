import type { Env } from '../../runtime/index.ts';
import { DecisionError, type DecisionStore } from '../decisions/index.ts';
import type { SafeCheck } from '../safe-check/index.ts';
import type { AgentBackend, Choice, DecideResult } from '../types.ts';
import type { UpdateTracker } from '../updates/index.ts';
import type { AgentEvents } from './events.ts';

export interface DecideOptions {
  env: Env;
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

const sentenceOf = (choice: Choice): string => {
  if (choice.choice === 'postpone') return `postponed until ${choice.until}`;
  if (choice.choice === 'reject') return 'rejected';
  const { when } = choice;
  if (when.type === 'window') return `approved between ${when.from} and ${when.to}`;
  return when.type === 'safe' ? 'approved as soon as the device is safe' : 'approved';
};

/** Takes what an owner decides: on the disk before the answer, for the revision that was shown and no other. */
export const createDecide = ({ env, decisions, tracker, safe, events }: DecideOptions): AgentBackend['decide'] => {
  const objection = (choice: Choice): Refused | undefined => {
    if (choice.choice === 'postpone' && Date.parse(choice.until) <= env.clock.now())
      return refused(422, 'BadDecision', `until ${choice.until} is not in the future: name a later time`);
    if (choice.choice === 'approve' && choice.when.type === 'safe' && !safe.configured)
      return refused(422, 'BadDecision', 'when safe needs a check of the device: start the agent with --safe-check');
    return undefined;
  };

  return async ({ namespace, daemonSet }, revision, choice, caller, reauthorize) => {
    // First, for whatever is awaited after the checks could make them untrue: a decision may be carried out meanwhile.
    const why = await reauthorize();
    if (why !== undefined) return refused(403, 'CallerGone', why);
    const tracked = tracker.get({ namespace, daemonSet });
    const name = `${namespace}/${daemonSet}`;
    if (!tracked) return refused(404, 'NoSuchDaemonSet', `DaemonSet ${name} has no updates to decide on this node`);
    const { announced, running, episode, terms } = tracked.record;
    if (announced.revision !== revision)
      return refused(
        409,
        'OtherRevision',
        `Revision ${revision} of ${name} is not the target: ${announced.revision} is`,
      );
    const before = decisions.current({ namespace, daemonSet });
    if (before?.state === 'acting' || episode)
      return refused(409, 'UnderWay', `The update of ${name} to ${revision} is under way`);
    if (announced.need === 'no')
      return refused(409, 'NothingToDecide', `There is nothing to decide for ${name}: ${announced.reason}`);
    // Whoever has decided may decide otherwise; whoever has not is not asked.
    if (announced.need === 'withheld' && before?.revision !== revision)
      return refused(409, 'NotOffered', `Revision ${revision} of ${name} is not offered for now: ${announced.reason}`);
    if (terms?.ota === false)
      return refused(
        409,
        'NotOffered',
        `Revision ${revision} of ${name} is not offered: nobody asks the owner any more`,
      );
    if (announced.need === 'halted' && choice.choice === 'approve')
      return refused(403, 'Halted', `The rollout of revision ${revision} of ${name} is halted`);
    const invalid = objection(choice);
    if (invalid) return invalid;
    try {
      const decision = await decisions.decide({
        namespace,
        daemonSet,
        revision,
        choice,
        by: caller,
        fromRevision: running.revision || null,
      });
      const note = `${caller.identity} ${sentenceOf(choice)} the update to ${revision}.`;
      events.record(tracked.record, 'OwnerDecided', String(decision.id), note);
      return { kind: 'accepted', status: choice.choice === 'approve' ? 202 : 201, decision };
    } catch (error) {
      if (error instanceof DecisionError && error.code === 'Acting')
        return refused(409, 'UnderWay', `The update of ${name} to ${revision} is under way`);
      throw error;
    }
  };
};
