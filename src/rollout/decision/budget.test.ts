import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonRolloutLimits } from '../../words/index.ts';
import { newTally } from '../fleet/tally.ts';
import { noScopes } from '../plan/scopes.ts';
import { count, percent } from '../policy/int-or-percent.ts';
import { benchAt, policyWith } from '../testing/workbench.ts';
import { budgetOf, createRoom, slotsOf, slotsOfStatus } from './budget.ts';

describe('the slots that people are told of', () => {
  it('are as many as nodes are down or being updated, within the budget', () => {
    assert.deepEqual(slotsOf(3, { occupied: 2, inFlight: 1 }, false), { inUse: 2, limit: 3, beyond: '' });
    assert.deepEqual(slotsOf(0, { occupied: 0, inFlight: 0 }, false), { inUse: 0, limit: 0, beyond: '' });
  });

  it('are never more than there are, and the rest has a reason', () => {
    const { inUse, beyond } = slotsOf(1, { occupied: 3, inFlight: 0 }, false);
    assert.deepEqual([inUse, beyond], [1, '3 online nodes are down, none of them by an update']);
    assert.match(
      slotsOf(1, { occupied: 3, inFlight: 1 }, false).beyond,
      /^3 online nodes are down, 1 of them by updates$/,
    );
    assert.match(slotsOf(1, { occupied: 2, inFlight: 2 }, false).beyond, /^2 nodes are being updated, since before/);
  });

  it('are used by updates alone where new pods are created beside old ones', () => {
    assert.deepEqual(slotsOf(2, { occupied: 5, inFlight: 1 }, true), { inUse: 1, limit: 2, beyond: '' });
    const budget = { maxUnavailable: '0', nodes: 2, inUse: 5, inFlight: 1 };
    assert.equal(slotsOfStatus({ budget: { ...budget, maxSurge: '2' } }).inUse, 1);
    assert.equal(slotsOfStatus({ budget }).inUse, 2);
    assert.deepEqual(slotsOfStatus({}), { inUse: 0, limit: 0, beyond: '' });
  });
});

describe('budgetOf', () => {
  for (const [value, settled, budget] of [
    [count(0), 50, 0],
    [percent(0), 50, 0],
    [count(1), 0, 1],
    [count(7), 3, 7],
    [percent(10), 0, 1],
    [percent(10), 1, 1],
    [percent(10), 10, 1],
    [percent(10), 11, 2],
    [percent(10), 1000, 100],
    [percent(100), 9, 9],
    [percent(1), 1, 1],
    [percent(100), 100_000, daemonRolloutLimits.reservations],
    [count(100_000), 9, daemonRolloutLimits.reservations],
  ] as const)
    it(`is ${budget} for ${value.value}${value.kind === 'percent' ? ' %' : ''} of ${settled}`, () => {
      assert.equal(budgetOf(policyWith({ maxUnavailable: value }), { ...newTally(), settled }), budget);
    });

  it('is a percentage of the eligible nodes that are online and settled', () => {
    const bench = benchAt(40, { maxUnavailable: percent(10) });
    assert.equal(bench.decide().summary.budget, 4);
    bench.offline('n0', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8', 'n9');
    assert.equal(bench.decide().summary.budget, 3);
    bench.online('n0');
    assert.equal(bench.decide().summary.budget, 3, 'not settled yet');
    bench.advance(10_000);
    assert.equal(bench.decide().summary.budget, 4);
    bench.node('n0', { eligible: false });
    assert.equal(bench.decide().summary.budget, 3);
  });
});

describe('a budget as a percentage of the desired nodes', () => {
  it('includes offline nodes', () => {
    const bench = benchAt(40, { maxUnavailable: percent(10), percentOf: 'desired' });
    bench.offline('n0', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8', 'n9');
    assert.equal(bench.decide().summary.budget, 4);
    bench.node('n0', { eligible: false });
    bench.node('n1', { eligible: false });
    assert.equal(bench.decide().summary.budget, 4, '3.8 nodes');
  });
});

describe('room', () => {
  for (const [inFlight, occupied, healthy, broken] of [
    [0, 0, true, true],
    [1, 1, true, true],
    [1, 2, false, true],
    [0, 2, false, true],
    [0, 9, false, true],
    [2, 2, false, false],
    [3, 3, false, false],
  ] as const)
    it(`with ${inFlight} in flight and ${occupied} occupied of 2: healthy ${healthy}, broken ${broken}`, () => {
      const room = createRoom(2, { inFlight, active: inFlight, occupied }, false);
      assert.equal(room.forHealthy(noScopes), healthy);
      assert.equal(room.forBroken(noScopes, false), broken);
    });

  it("in a node's own slot depends on updates under way, not on nodes that wait for the same repair", () => {
    const ownSlot = (budget: number, usage: Parameters<typeof createRoom>[1]): boolean =>
      createRoom(budget, usage, false).forBroken(noScopes, true);
    assert.equal(ownSlot(2, { inFlight: 9, active: 1, occupied: 9 }), true);
    assert.equal(ownSlot(2, { inFlight: 9, active: 2, occupied: 9 }), false);
    assert.equal(ownSlot(0, { inFlight: 0, active: 0, occupied: 0 }), false);
  });
});
