import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RolloutHead } from '../types.ts';
import { effectsOf, isDangerous, undoTarget, verbOf } from './effects.ts';

const phases = {
  updated: 0,
  updating: 0,
  outdated: 244,
  broken: 0,
  offline: 28,
  settling: 0,
  held: 0,
  failed: 28,
  missing: 0,
};
const headline = { state: 'halted', badge: '', title: '', evidence: '', commands: [] } as const;
const halted = {
  name: 'web',
  headline,
  phases,
  breaker: { failures: 28, suspects: 0, haltsAt: 3 },
  budget: { inUse: 28, limit: 28 },
  settings: { maxUnavailable: '10%', partition: '0', failureThreshold: '3', warnings: [] },
  strategy: 'auto',
  target: 'two',
  undoTo: '2.0.1',
  revisions: [
    { hash: 'two', number: 2, images: ['web:2.1.0', 'proxy:1'] },
    { hash: 'one', number: 1, images: ['web:2.0.1', 'proxy:1'] },
  ],
} satisfies Partial<RolloutHead>;
const running = { ...halted, headline: { ...headline, state: 'running' as const } };

describe('a command in its dialog', () => {
  it('is named by its verb and its object', () => {
    assert.deepEqual(verbOf({ command: 'undo' }, halted), { title: 'Undo web to 2.0.1', button: 'Undo to 2.0.1' });
    assert.equal(verbOf({ command: 'undo' }, { ...halted, undoTo: undefined }).title, 'Undo web');
    assert.equal(verbOf({ command: 'resume' }, halted).title, 'Resume web in spite of 28 failures');
    assert.equal(verbOf({ command: 'resume' }, running).title, 'Resume web');
    assert.equal(verbOf({ command: 'approve', stage: 'canary' }, running).title, 'Approve stage canary of web');
  });

  it('names the version of the revision that was chosen', () => {
    assert.equal(undoTarget(halted, 1), '2.0.1');
    assert.equal(undoTarget(halted, 7), 'revision 7');
  });

  it('is dangerous in spite of failures, and where it skips what a stage waits for', () => {
    assert.deepEqual(
      [
        isDangerous({ command: 'resume' }, halted),
        isDangerous({ command: 'promote', stage: 'canary' }, running),
        isDangerous({ command: 'resume' }, running),
        isDangerous({ command: 'undo' }, halted),
      ],
      [true, true, false, false],
    );
  });

  it('says what happens next', () => {
    assert.deepEqual(effectsOf({ command: 'undo' }, halted), [
      '28 failed nodes get 2.0.1 back first.',
      'At most 10% = 28 nodes are down at a time.',
      '28 offline nodes are skipped until they return.',
    ]);
    assert.deepEqual(effectsOf({ command: 'resume' }, halted), [
      '28 failures are forgiven: they no longer stop the rollout.',
      'Updates continue on 244 outdated nodes.',
      'At most 10% = 28 nodes are down at a time.',
      'New failures can halt the rollout again.',
    ]);
    const owners = { ...running, strategy: 'ota', budget: { inUse: 1, limit: 0 }, phases: { ...phases, offline: 0 } };
    assert.deepEqual(effectsOf({ command: 'undo' }, owners), []);
  });
});
