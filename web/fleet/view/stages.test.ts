import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StageStep } from '../types.ts';
import { consequenceOf, progressOf, soakLeft } from './stages.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const step = (more: Partial<StageStep> = {}): StageStep => ({
  name: 'canary',
  state: 'Open',
  nodes: { total: 10, online: 8, updated: 8 },
  awaits: '',
  way: '',
  checks: [],
  decisions: [],
  ...more,
});

describe('a stage', () => {
  it('soaks for so much longer', () => {
    const left = (soakUntil?: string): string => soakLeft(step(soakUntil === undefined ? {} : { soakUntil }), NOW);
    assert.equal(left(), '');
    assert.equal(left('2030-01-01T00:25:00Z'), '25 min left');
    assert.equal(left('2030-01-01T00:00:09Z'), '9 sec left');
    assert.equal(left('2030-01-01T00:00:00.400Z'), '1 sec left');
    assert.equal(left('2030-01-01T00:00:00Z'), '');
  });

  it('says how far it is', () => assert.equal(progressOf(step()), '8 of 8 online nodes updated, 10 in all'));

  it('says how many nodes have the new version before it opens', () => {
    const nodes = { total: 10, online: 8, updated: 2, exposed: 3 };
    assert.match(
      progressOf(step({ state: 'Closed', nodes })),
      /10 in all, 3 exposed to the new version before the stage/,
    );
    assert.doesNotMatch(progressOf(step({ nodes: { ...nodes, exposed: 0 } })), /exposed/);
  });

  it('says what a decision on it does', () => {
    assert.equal(
      consequenceOf('approve', step(), NOW),
      'You approve stage canary: 8 of 8 online nodes updated, 10 in all.',
    );
    const soaking = step({
      nodes: { total: 10, online: 8, updated: 3 },
      soakUntil: '2030-01-01T03:00:00Z',
      checks: [{ name: 'errors', state: 'NoResult', message: 'no answer' }],
    });
    assert.equal(
      consequenceOf('promote', soaking, NOW),
      'You promote stage canary. This skips: coverage (3 of 8 online nodes updated), soak (3 hr left), check errors (NoResult).',
    );
    assert.equal(
      consequenceOf('promote', step(), NOW),
      'You promote stage canary. Nothing that it waits for now is skipped.',
    );
    assert.equal(consequenceOf('pause', step(), NOW), '');
  });
});
