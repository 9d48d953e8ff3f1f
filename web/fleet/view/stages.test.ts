import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StageStep } from '../types.ts';
import { consequenceOf, dotsOf, progressOf, sizeOf, soakLeft, soakOf } from './stages.ts';

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

  it('counts its soak down in two units, and as a share of the whole', () => {
    const soak = (soakUntil: string, coveredAt?: string) =>
      soakOf(step({ soakUntil, ...(coveredAt !== undefined && { coveredAt }) }), NOW);
    assert.deepEqual(soak('2030-01-01T01:29:41Z', '2029-12-31T23:29:41Z'), {
      left: '1 hr 29 min left',
      share: 5381 / 7200,
    });
    assert.equal(soak('2030-01-01T00:24:10Z')?.left, '24 min 10 sec left');
    assert.equal(soak('2030-01-01T01:00:30Z')?.left, '1 hr left');
    assert.equal(soak('2030-01-03T05:00:00Z')?.left, '2 days 5 hr left');
    assert.deepEqual(soak('2030-01-01T00:00:00.400Z'), { left: '1 sec left', share: 1 }, 'since when is not known');
    assert.equal(soak('2030-01-01T00:01:00Z', '2030-01-01T00:00:30Z')?.share, 1, 'the clocks differ');
    assert.equal(soak('2030-01-01T00:00:00Z'), undefined);
    assert.equal(soak('2030-01-01T00:00:01Z', '2030-01-01T00:00:01Z'), undefined, 'it has none');
    assert.equal(soakOf(step(), NOW), undefined);
  });

  it('is a dot in one line, with the progress of the open one', () => {
    const stages = [
      step({ name: 'lab', state: 'Passed' }),
      step({ nodes: { total: 10, online: 9, updated: 8 } }),
      step({ name: 'rest', state: 'Closed' }),
    ];
    const said = (of: Parameters<typeof dotsOf>[0]) =>
      dotsOf(of).map(({ name, state, progress }) => [name, state, progress].join(' ').trim());
    assert.deepEqual(said(stages), ['lab Passed', 'canary Open 88%', 'rest Closed']);
    assert.deepEqual(said([step({ nodes: { total: 1, online: 0, updated: 0 } })]), ['canary Open 0%']);
    assert.deepEqual(said({ passed: 1, open: 'canary', total: 3 }), ['Passed', 'canary Open', 'Closed']);
    assert.deepEqual(said({ passed: 0, open: '', total: 1 }), ['Closed']);
    assert.deepEqual(said({ passed: 2, open: '', total: 2 }), ['Passed', 'Passed']);
  });

  it('says how many nodes it has before it opens', () => {
    const nodes = { total: 1, online: 1, updated: 0 };
    assert.equal(sizeOf(step({ nodes })), '1 node');
    assert.equal(
      sizeOf(step({ nodes: { ...nodes, total: 3, exposed: 1 } })),
      '3 nodes, 1 exposed to the new version before the stage opens',
    );
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
      'This skips: coverage (3 of 8 online nodes updated), soak (3 hr left), check errors (NoResult).',
    );
    assert.equal(
      consequenceOf('promote', step(), NOW),
      'Stage canary has its coverage, and no soak or check is left to skip.',
    );
    assert.equal(consequenceOf('pause', step(), NOW), '');
  });
});
