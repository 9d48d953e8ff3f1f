import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { array, assert as check, nat, property, record } from 'fast-check';
import { MOST, type Moment, momentOf, type OnlinePhase, stacked, stackOf, withMoment } from './moments.ts';

const none = Object.fromEntries(stacked.map((phase) => [phase, 0])) as Record<OnlinePhase, number>;
const moment = (at: number, nodes: Partial<Moment['nodes']> = {}, more: Partial<Moment> = {}): Moment => ({
  at,
  nodes: { ...none, ...nodes },
  inUse: 0,
  limit: 5,
  recorded: false,
  ...more,
});
const times = (moments: readonly Moment[]): number[] => moments.map(({ at }) => at);

describe('the moments of a time line', () => {
  it('have the online nodes by phase, and the budget', () => {
    const phases = { ...none, updated: 3, failed: 1, offline: 7 };
    assert.deepEqual(
      momentOf({ phases, budget: { inUse: 1, limit: 2 } }, 9),
      moment(9, { updated: 3, failed: 1 }, { inUse: 1, limit: 2 }),
    );
  });

  it('grow only where something changes', () => {
    let moments: readonly Moment[] = [];
    const add = (at: number, updated: number, more: Partial<Moment> = {}): void => {
      moments = withMoment(moments, moment(at, { updated }, more));
    };
    for (const at of [0, 1, 2, 3]) add(at, 0);
    add(4, 1);
    for (const at of [5, 6]) add(at, 1);
    assert.deepEqual(times(moments), [0, 3, 4, 6]);
    for (const at of [7, 8, 9]) add(at, 1, { limit: 9 });
    assert.deepEqual(times(moments), [0, 3, 4, 6, 7, 9], 'a change of the budget is one');
  });

  it('stay few, with both ends', () => {
    let moments: readonly Moment[] = [];
    for (let at = 0; at < 5_000; at += 1) {
      moments = withMoment(moments, moment(at, { updated: at }));
      assert.ok(moments.length <= MOST, `${moments.length}`);
    }
    assert.equal(moments[0]?.at, 0);
    assert.equal(moments.at(-1)?.nodes.updated, 4_999);
  });

  it('never run backwards, and the last one tells the present', () => {
    check(
      property(array(record({ at: nat(50), updated: nat(3) }), { minLength: 1 }), (added) => {
        let moments: readonly Moment[] = [];
        for (const { at, updated } of added) moments = withMoment(moments, moment(at, { updated }));
        const all = times(moments);
        assert.ok(all.every((at, index) => index === 0 || at > (all[index - 1] ?? at)));
        assert.equal(moments.at(-1)?.nodes.updated, added.at(-1)?.updated);
      }),
    );
  });

  it('are stacked to 100 % of the online nodes', () => {
    assert.deepEqual(stackOf(moment(0, { updated: 1, failed: 1, outdated: 2 })), [25, 25, 50, 50, 50, 50, 50, 100]);
    assert.deepEqual(stackOf(moment(0)), [0, 0, 0, 0, 0, 0, 0, 0], 'none is online');
    const counts = record(Object.fromEntries(stacked.map((phase) => [phase, nat(5_000)])));
    check(
      property(counts, (nodes) => {
        const stack = stackOf(moment(0, nodes));
        const online = stacked.reduce((sum, phase) => sum + (nodes[phase] ?? 0), 0);
        assert.equal(stack.at(-1), online === 0 ? 0 : 100);
        assert.ok(stack.every((top, index) => top >= (stack[index - 1] ?? 0)));
      }),
    );
  });
});
