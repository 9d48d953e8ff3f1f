import { DecisionError, type DecisionStore, type Steps } from '../decisions/index.ts';
import type { SafeCheck } from '../safe-check/index.ts';
import type { AgentBackend, Choice } from '../types.ts';
import type { UpdateTracker } from '../updates/index.ts';
import { refusalOf, refused, underWay } from './choices.ts';
import type { AgentEvents } from './events.ts';

export interface DecideOptions {
  decisions: DecisionStore;
  tracker: Pick<UpdateTracker, 'get'>;
  safe: Pick<SafeCheck, 'configured'>;
  events: AgentEvents;
  steps: Pick<Steps, 'deadlineOf'>;
}

const describe = (choice: Choice): string => {
  if (choice.choice === 'postpone') return `postponed until ${choice.until}`;
  if (choice.choice === 'reject') return 'rejected';
  const { when } = choice;
  if (when.type === 'window') return `approved between ${when.from} and ${when.to}`;
  return when.type === 'safe' ? 'approved as soon as the device is safe' : 'approved';
};

/** Takes an owner's decision for the revision that the owner was shown, and saves it before it responds. */
export const createAcceptDecision = (options: DecideOptions): AgentBackend['decide'] => {
  const { decisions, tracker, safe, events, steps } = options;
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
    if (!tracked)
      return refused(
        404,
        'NoSuchDaemonSet',
        `DaemonSet ${namespace}/${daemonSet} has no updates to decide on this node`,
      );
    const decision = decisions.current({ namespace, daemonSet });
    const facts = { tracked, decision, deadline: steps.deadlineOf(tracked) };
    const refusal = refusalOf(facts, revision, choice.choice);
    if (refusal) return refusal;
    try {
      const accepted = await decisions.decide({
        namespace,
        daemonSet,
        revision,
        choice,
        by: caller,
        fromRevision: tracked.record.running.revision || null,
      });
      const note = `${caller.identity} ${describe(choice)} the update to ${revision}.`;
      events.record(tracked.record, 'OwnerDecided', String(accepted.id), note);
      return { kind: 'accepted', status: choice.choice === 'approve' ? 202 : 201, decision: accepted };
    } catch (error) {
      if (error instanceof DecisionError && error.code === 'Acting') return underWay(tracked, revision);
      throw error;
    }
  };
};
