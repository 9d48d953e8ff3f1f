import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { retarget } from './retarget.ts';
import { newState } from './state.ts';

const target = (hash: string, number: number) => ({ name: `set-${hash}`, hash, number });

describe('retarget', () => {
  it('does not count the first target as a started rollout', () => {
    const state = retarget(newState(), target('a', 1), 5_000);
    assert.deepEqual([state.rollout, state.startedAt, state.target?.hash], [1, undefined, 'a']);
  });
  it('returns the same object for the same target, and notes a higher number', () => {
    const state = retarget(newState(), target('a', 1), 5_000);
    assert.equal(retarget(state, target('a', 1), 6_000), state);
    assert.deepEqual(retarget(state, target('a', 3), 6_000), { ...state, target: target('a', 3) });
  });
  it('starts over for another target, and keeps what does not belong to the previous rollout', () => {
    const before = {
      ...retarget(newState(), target('a', 1), 5_000),
      updatesStarted: 7,
      finishedAt: 9,
      firstWaveUpdatedAt: 7,
      halfUpdatedAt: 8,
      allNodesUpdatedAt: 10,
      halted: { at: 1, reason: 'Failures' as const, nodes: ['x'] },
      resumed: 'a/1',
      driftForgiven: true,
      lastComplete: { name: 'set-a', hash: 'a' },
    };
    const { current, past, ...after } = retarget(before, target('b', 2), 8_000);
    assert.deepEqual([current.from?.hash, past.length], ['a', 1]);
    const { current: _, past: __, ...fresh } = newState();
    const { resumed, lastComplete } = before;
    assert.deepEqual(after, {
      ...fresh,
      rollout: 2,
      target: target('b', 2),
      startedAt: 8_000,
      resumed,
      lastComplete,
    });
  });
});
