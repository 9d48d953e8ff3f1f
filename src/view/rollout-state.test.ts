import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reasonOfHold } from '../rollout/index.ts';
import { stateOf } from './rollout-state.ts';
import { byUrgency, type RolloutState, rolloutStates, stateGroups } from './states.ts';

const ready = (reason: string) => ({ type: 'Ready', status: 'False', reason });

describe('the state of a rollout', () => {
  it('is what its conditions say, of a status or of a reading', () => {
    const expected: Readonly<Record<string, RolloutState>> = {
      AllOnlineNodesUpdated: 'complete',
      AwaitingApproval: 'approval',
      StageTimedOut: 'timedOut',
      StageSoaking: 'clock',
      OutsideWindow: 'clock',
      OwnerDecides: 'owners',
      OnDelete: 'manual',
      LeftOnOldRevision: 'kept',
      WaitingForSuspects: 'suspects',
      InProgress: 'running',
      TemplateNotObserved: 'unserved',
      Deleted: 'deleted',
    };
    for (const [reason, state] of Object.entries(expected)) assert.equal(stateOf([ready(reason)]), state, reason);
  });

  it('is what it is stuck on, whatever else holds', () => {
    const stalled = (reason: string) => [ready(reason), { type: 'Stalled', status: 'True', reason }];
    assert.equal(stateOf(stalled('Halted')), 'halted');
    assert.equal(stateOf(stalled('InvalidPolicy')), 'invalid');
    assert.equal(stateOf(stalled('InternalError')), 'error');
    assert.equal(stateOf(stalled('FailedCreate')), 'refused');
    const paused = (reason: string) => [ready('AllOnlineNodesUpdated'), { type: 'Paused', status: true, reason }];
    assert.equal(stateOf(paused('Paused')), 'paused', 'also when nothing is left to do');
    assert.equal(stateOf(paused('ZeroBudget')), 'frozen');
    assert.equal(stateOf([ready('InProgress'), { type: 'Stalled', status: 'False', reason: 'Halted' }]), 'running');
  });

  it('is not known while the status is not about the present', () => {
    assert.equal(stateOf(undefined), 'unserved');
    assert.equal(stateOf([ready('AllOnlineNodesUpdated')], { doubt: 'waiting' }), 'unserved');
  });

  it('is known for every reason of a hold', () => {
    for (const reason of Object.values(reasonOfHold)) {
      const conditions = ['Ready', 'Stalled', 'Paused'].map((type) => ({ type, status: true, reason }));
      assert.notEqual(stateOf(conditions), 'running', reason);
    }
  });

  it('waits for a person whatever nodes of other stages do, unless it is stuck or done', () => {
    const running = [ready('InProgress')];
    assert.equal(stateOf(running, { wait: 'Approval' }), 'approval');
    assert.equal(stateOf(running, { wait: 'Timeout' }), 'timedOut');
    assert.equal(stateOf(running, { wait: 'Soak' }), 'running');
    const halted = [...running, { type: 'Stalled', status: true, reason: 'Halted' }];
    assert.equal(stateOf(halted, { wait: 'Approval' }), 'halted');
    assert.equal(stateOf([ready('AllOnlineNodesUpdated')], { wait: 'Approval' }), 'complete');
  });

  it('is in one group', () => {
    assert.deepEqual(Object.values(stateGroups).flat().toSorted(), [...byUrgency].toSorted());
    assert.equal(new Set(Object.values(rolloutStates).map(({ word }) => word)).size, byUrgency.length);
  });
});
