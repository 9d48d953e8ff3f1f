import { checkStates, daemonRolloutLimits as limits, stagePromotions, stageWaits } from '../daemon-rollout.ts';
import { planLimits } from '../plan.ts';
import { counter, dateTime, keyedList, object, oneOf, type Schema, text } from './schema.ts';

/** Of each node that a stage has drawn. */
const SAMPLE_CHARACTERS = 8;

const nodes = object('How many eligible nodes belong to the stage.', {
  total: counter('Nodes of the stage, offline nodes included.'),
  online: counter('Nodes of the stage that are Ready.'),
  updated: counter('Online nodes of the stage that run the target and are available.'),
});

const awaits = object('What has to happen before the stage is passed; absent unless it is open.', {
  reason: oneOf(
    'Coverage: too few online nodes run the target. MinNodes: too few nodes are online and run it. Soak: its time has not ' +
      'passed. Checks: a check has no result, or does not hold. Approval: nobody has approved it. Timeout: its timeout has ended, and it still waits. Held: something else holds the rollout.',
    stageWaits,
  ),
  message: text('The same for people, as a sentence.', limits.message),
});

const checks = keyedList(
  'The checks of the stage, and what they last said; absent if it has none.',
  planLimits.checks,
  ['name'],
  object(
    'One check.',
    {
      name: text('Name of the check in the plan.', limits.hash),
      state: oneOf(
        'Pending: not evaluated yet. NoResult: it could not be evaluated. Passing: its condition holds. Failing: it does not, but ' +
          'may fail more often. Failed: it failed too often, which halts the rollout.',
        checkStates,
      ),
      failures: counter('Evaluations in which its condition did not hold.'),
      at: dateTime('When it was last evaluated.'),
      message: text('What was asked and answered, shortened.', limits.message),
    },
    { optional: ['at', 'message'] },
  ),
);

/** `status.stages`. */
export const stages: Schema = keyedList(
  'The stages of the rollout plan, in its order; the last one, rest, has the nodes that no other takes. Absent without a plan.',
  limits.stages,
  ['name'],
  object(
    'One stage, and how far it is.',
    {
      name: text('Name of the stage.', limits.hash),
      state: oneOf('Passed: the stages after it may begin. Open: its nodes may be updated. Closed: they may not yet.', [
        'Passed',
        'Open',
        'Closed',
      ]),
      nodes,
      openedAt: dateTime('When it was opened.'),
      coveredAt: dateTime('Since when enough of its nodes run the target.'),
      soakUntil: dateTime('When its soak ends, if its coverage lasts.'),
      awaits,
      checks,
      promotedAt: dateTime('When it was passed.'),
      promotion: oneOf(
        'Why it was passed. Gates: all of its conditions held. Empty: it has no nodes. Timeout: the plan promotes it by then. ' +
          'ByHand: somebody promoted it.',
        stagePromotions,
      ),
      promotedBy: text('Who promoted or approved it.', limits.user),
      sample: text(
        'Hashes of the nodes that were drawn for its count, 8 characters for each. Only the manager reads it.',
        SAMPLE_CHARACTERS * planLimits.sampledNodes,
      ),
    },
    {
      optional: [
        'openedAt',
        'coveredAt',
        'soakUntil',
        'awaits',
        'checks',
        'promotedAt',
        'promotion',
        'promotedBy',
        'sample',
      ],
    },
  ),
);
