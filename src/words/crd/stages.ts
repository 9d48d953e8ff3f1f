import { daemonRolloutLimits as limits } from '../daemon-rollout.ts';
import { planLimits } from '../plan.ts';
import type { Infer } from '../typed.ts';
import { counter, dateTime, keyedList, object, oneOf, text } from './schema.ts';

export const stagePromotions = ['Gates', 'Empty', 'Timeout', 'ByHand'] as const;
export type StagePromotion = (typeof stagePromotions)[number];

/** Of each node that a stage has drawn. */
const SAMPLE_CHARACTERS = 8;

const nodes = object(
  'How many eligible nodes belong to the stage.',
  {
    total: counter('Nodes of the stage, offline nodes included.'),
    online: counter('Nodes of the stage that are Ready.'),
    updated: counter('Online nodes of the stage that run the target and are available.'),
    exposed: counter(
      'Nodes that have a pod of the target although the stage is closed: their pods were recreated, or they joined. Absent ' +
        'until there is one in this rollout.',
    ),
  },
  { optional: ['exposed'] },
);

const awaits = object('What has to happen before the stage is passed; absent unless it is open.', {
  reason: oneOf(
    'Coverage: too few online nodes run the target. MinNodes: too few nodes are online and run it. Soak: its time has not ' +
      'passed. Checks: a check has no result, or does not hold. Approval: nobody has approved it. Timeout: its timeout has ended, and it still waits. Held: something else holds the rollout.',
    ['Coverage', 'MinNodes', 'Soak', 'Checks', 'Approval', 'Timeout', 'Held'],
  ),
  message: text('The same for people, as a sentence.', limits.message),
});

/** Why the open stage has not been passed yet. */
export type StageWait = Infer<typeof awaits>['reason'];

const check = object(
  'One check.',
  {
    name: text('Name of the check in the plan.', limits.hash),
    state: oneOf(
      'Pending: not evaluated yet. NoResult: it could not be evaluated. Passing: its condition holds. Failing: it does not, but ' +
        'may fail more often. Failed: it failed too often, which halts the rollout.',
      ['Pending', 'NoResult', 'Passing', 'Failing', 'Failed'],
    ),
    failures: counter('Evaluations in which its condition did not hold.'),
    at: dateTime('When it was last evaluated.'),
    message: text('What was asked and answered, shortened.', limits.message),
  },
  { optional: ['at', 'message'] },
);

export type CheckState = Infer<typeof check>['state'];

const stage = object(
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
    checks: keyedList(
      'The checks of the stage, and what they last said; absent if it has none.',
      planLimits.checks,
      ['name'],
      check,
    ),
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
);

/** A stage of the rollout plan, in its order. */
export type DaemonRolloutStage = Infer<typeof stage>;

/** `status.stages`. */
export const stages = keyedList(
  'The stages of the rollout plan, in its order; the last one, rest, has the nodes that no other takes. Absent without a plan.',
  limits.stages,
  ['name'],
  stage,
);
