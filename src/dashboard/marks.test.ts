import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonRolloutHistory, DaemonRolloutStatus } from '../words/index.ts';
import { marksOf } from './marks.ts';

const at = (minute: number): string => `2030-01-01T00:${String(minute).padStart(2, '0')}:00Z`;
type Conditions = NonNullable<DaemonRolloutStatus['conditions']>;
const condition = (type: string, status: 'True' | 'False' | 'Unknown', minute: number, reason = type): Conditions => [
  { type, status, reason, message: '', lastTransitionTime: at(minute) },
];
const entry = (more: Partial<DaemonRolloutHistory> = {}): DaemonRolloutHistory => ({
  rollout: 2,
  result: 'InProgress',
  to: { revision: 'web-2', hash: 'two', number: 2, images: [] },
  nodes: 0,
  failures: 0,
  ...more,
});
const marks = (status: DaemonRolloutStatus): string[] =>
  marksOf({ startedAt: at(10), ...status }).map(({ at: time, kind, what }) => `${time.slice(14, 16)} ${kind} ${what}`);

describe('the marks of a rollout', () => {
  it('are its stages and who decided on them, its halt and its end, in the order of time', () => {
    const stages = [
      {
        name: 'lab',
        openedAt: at(10),
        promotedAt: at(20),
        decisions: [{ decision: 'Approve' as const, by: 'anna', at: at(15), comment: 'tills are fine' }],
      },
      {
        name: 'canary',
        openedAt: at(20),
        promotedAt: at(30),
        decisions: [{ decision: 'Promote' as const, by: 'bob' }],
      },
      { name: 'rest', openedAt: at(31) },
    ];
    const status = { history: [entry({ stages, haltedAt: at(25) }), entry({ haltedAt: at(1) })], finishedAt: at(40) };
    assert.deepEqual(marks({ ...status, conditions: condition('Halted', 'False', 27, 'NotHalted') }), [
      '10 stage Stage lab opened',
      '15 approval Stage lab approved by anna: tills are fine',
      '20 stage Stage canary opened',
      '25 halt Halted',
      '27 resume Resumed after the halt',
      '30 approval Stage canary promoted by bob',
      '31 stage Stage rest opened',
      '40 complete All online nodes updated',
    ]);
  });

  it('say why it is halted', () => {
    const halted = (reason: NonNullable<DaemonRolloutStatus['halted']>['reason'], check?: string) =>
      marks({
        halted: { at: at(12), reason, nodes: [], ...(check !== undefined && { check }) },
        history: [entry({ haltedAt: at(12) })],
        conditions: condition('Halted', 'False', 13),
      });
    assert.deepEqual(halted('Failures'), ['12 halt Halted: too many nodes failed']);
    assert.deepEqual(halted('CheckFailed', 'lab/errors'), ['12 halt Halted: check lab/errors failed']);
    assert.deepEqual(halted('RolledBack'), ['12 halt Halted: this revision was rolled back before']);
    assert.deepEqual(halted('ImageDrift'), ['12 halt Halted: an image differs between nodes']);
  });

  it('have no end of a halt that is not known to have ended', () => {
    const history = [entry({ haltedAt: at(25) })];
    assert.deepEqual(marks({ history, conditions: condition('Halted', 'False', 5) }), ['25 halt Halted']);
    assert.deepEqual(marks({ history, conditions: condition('Halted', 'Unknown', 26) }), ['25 halt Halted']);
  });

  it('are its last pause, or the end of it', () => {
    assert.deepEqual(marks({ conditions: condition('Paused', 'True', 12, 'Paused') }), ['12 pause Paused']);
    assert.deepEqual(marks({ conditions: condition('Paused', 'True', 12, 'ZeroBudget') }), [
      '12 pause Stopped by a budget of zero',
    ]);
    assert.deepEqual(
      marks({ conditions: condition('Paused', 'True', 5) }),
      ['10 pause Paused'],
      'since before it began',
    );
    assert.deepEqual(marks({ conditions: condition('Paused', 'False', 14) }), ['14 resume Resumed after a pause']);
    assert.deepEqual(marks({ conditions: condition('Paused', 'False', 5) }), [], 'before it began');
    assert.deepEqual(marksOf({ conditions: condition('Paused', 'False', 14) }), [], 'it began before the manager');
    assert.deepEqual(marksOf(undefined), []);
  });
});
