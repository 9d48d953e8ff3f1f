import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WrittenStatus } from '../../rollout/index.ts';
import type { DaemonRolloutStage, DaemonRolloutStatus } from '../../words/index.ts';
import { stageEvents } from './stage-events.ts';

const at = '2030-01-01T00:00:00.000Z';
const status = (stage: Partial<DaemonRolloutStage>, rollout = 2): WrittenStatus =>
  ({
    rollout,
    stages: [{ name: 'lab', state: 'Open', nodes: { total: 3, online: 2, updated: 2 }, ...stage }],
  }) as DaemonRolloutStatus as WrittenStatus;
const told = (before: DaemonRolloutStatus | undefined, after: WrittenStatus) =>
  stageEvents(before, after).map(({ type, reason, note }) => `${type} ${reason}: ${note}`);

describe('Events about stages', () => {
  const open = { openedAt: at };
  for (const [what, before, after, events] of [
    ['an opening', {}, open, ['Normal StageOpened: Opened stage lab: 2 of its 3 nodes are online.']],
    ['nothing new', open, open, []],
    [
      'a stage that was passed',
      open,
      { ...open, promotedAt: at, promotion: 'Gates', promotedBy: 'ann' },
      ['Normal StagePassed: Passed stage lab: 2 of its 2 online nodes run the target, approved by ann.'],
    ],
    [
      'a promotion by hand',
      open,
      { ...open, promotedAt: at, promotion: 'ByHand', promotedBy: 'ann' },
      ['Normal StagePassed: Passed stage lab: ann promoted it.'],
    ],
    [
      'an empty stage that is opened and passed at once',
      {},
      { ...open, promotedAt: at, promotion: 'Empty' },
      [
        'Normal StageOpened: Opened stage lab: 2 of its 3 nodes are online.',
        'Normal StagePassed: Passed stage lab: it has no nodes.',
      ],
    ],
    [
      'a stage that awaits an approval',
      { ...open, awaits: { reason: 'Soak', message: 'soaks' } },
      { ...open, awaits: { reason: 'Approval', message: 'waits for an approval' } },
      ['Normal StageAwaitsApproval: Stage lab waits for an approval.'],
    ],
    [
      'a timeout',
      open,
      { ...open, awaits: { reason: 'Timeout', message: 'waits; its timeout was over' } },
      ['Warning StageTimedOut: Stage lab waits; its timeout was over.'],
    ],
    [
      'checks',
      open,
      {
        ...open,
        checks: [
          { name: 'a', state: 'NoResult', failures: 0, message: 'no answer' },
          { name: 'b', state: 'Failing', failures: 1, message: 'up is 0' },
          { name: 'c', state: 'Passing', failures: 0 },
        ],
      },
      [
        'Warning CheckWithoutResult: Check a of stage lab: no answer',
        'Warning CheckFailing: Check b of stage lab: up is 0',
      ],
    ],
    [
      'nodes that are exposed for the first time',
      {},
      { nodes: { total: 3, online: 2, updated: 1, exposed: 1 } },
      [
        'Warning StageExposed: 1 of the 3 nodes of stage lab have pods of the target, although the stage is closed: recreated pods, and those of nodes that join, are of the newest revision.',
      ],
    ],
    [
      'no further ones, also after there was none for a while',
      { nodes: { total: 3, online: 2, updated: 0, exposed: 0 } },
      { nodes: { total: 3, online: 2, updated: 1, exposed: 2 } },
      [],
    ],
  ] as const satisfies readonly [string, Partial<DaemonRolloutStage>, Partial<DaemonRolloutStage>, readonly string[]][])
    it(`tell of ${what}`, () => {
      assert.deepEqual(
        told(status(before), status({ ...after, checks: [...('checks' in after ? after.checks : [])] })),
        events,
      );
    });

  it('begin again with the next rollout', () => {
    assert.equal(told(status(open, 1), status(open, 2)).length, 1);
    assert.equal(told(undefined, status(open)).length, 1);
  });
});
