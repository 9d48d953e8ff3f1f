import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countOperations, makePlan } from './plan.ts';
import { readSettings } from './settings.ts';

const kinds = [
  'kill',
  'stop',
  'cut',
  'stall',
  'slow',
  'reset',
  'restart-api',
  'hold-native',
  'offline',
  'recreate-node',
  'delete-pods',
  'release',
  'bad-version',
  'pause',
  'partition',
  'budget',
];

describe('a plan of the chaos run', () => {
  it('depends on the seed alone', () => {
    assert.deepEqual(makePlan(7, 2), makePlan(7, 2));
    assert.notDeepEqual(makePlan(7, 2), makePlan(8, 2));
  });

  it('contains every kind of operation, and a leader that is stopped for a minute', () => {
    for (let seed = 0; seed < 50; seed += 1) {
      const plan = makePlan(seed, 2);
      assert.deepEqual([...countOperations(plan).keys()].toSorted(), kinds.toSorted());
      assert.ok(
        plan.lanes['processes']?.some(({ operation }) => operation.do === 'stop' && operation.forMs === 60_000),
      );
    }
  });

  it('grows with its duration', () => {
    const steps = (minutes: number): number => Object.values(makePlan(7, minutes).lanes).flat().length;
    assert.ok(steps(20) > 5 * steps(2));
  });

  it('of storm leaders contains only faults of leaders, and releases', () => {
    const kindsOf = [...countOperations(makePlan(1, 2, 'leaders')).keys()].toSorted();
    assert.deepEqual(kindsOf, ['cut', 'release', 'restart-api', 'stop']);
  });
});

describe('the settings of the chaos run', () => {
  it('are read from the environment', () => {
    assert.deepEqual(readSettings({ EDGESET_SEED: '31', EDGESET_CHAOS_MINUTES: '0.5' }), {
      seed: 31,
      minutes: 0.5,
      storm: 'everything',
    });
    assert.equal(readSettings({ EDGESET_CHAOS_STORM: 'leaders' }).storm, 'leaders');
    assert.notEqual(readSettings({ EDGESET_SEED: 'random' }).seed, readSettings({ EDGESET_SEED: 'random' }).seed);
  });

  it('are refused by name', () => {
    assert.throws(() => readSettings({ EDGESET_SEED: 'often' }), /EDGESET_SEED must be a whole number/);
    assert.throws(() => readSettings({ EDGESET_CHAOS_MINUTES: 'long' }), /EDGESET_CHAOS_MINUTES must be a number/);
    assert.throws(
      () => readSettings({ EDGESET_CHAOS_STORM: 'snow' }),
      /EDGESET_CHAOS_STORM must be everything or leaders/,
    );
  });
});
