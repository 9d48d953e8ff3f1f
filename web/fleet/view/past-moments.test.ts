import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { array, assert as check, constantFrom, integer, nat, option, property, record, tuple } from 'fast-check';
import type { NodeCell } from '../types.ts';
import { MOST, type Moment, stacked } from './moments.ts';
import { type PastOptions, pastMoments } from './past-moments.ts';

const FROM = 1_000_000;
const seconds = (after: number): number => FROM + after * 1_000;
/** A node whose update took from `began` to `ended`, in seconds after the rollout began. */
const node = (phase: NodeCell[1], began?: number, ended?: number): NodeCell => {
  const at = (time: number | undefined): number => (time === undefined ? 0 : seconds(time) / 1_000);
  return ['n', phase, '', '', at(began), at(ended), '', ''];
};
const past = (cells: readonly NodeCell[], more: Partial<PastOptions> = {}): readonly Moment[] =>
  pastMoments(cells, { from: FROM, limit: 5, now: seconds(50), ...more });
/** Seconds after the rollout began; nodes that are updated, updating, failed and outdated; slots in use. */
const rows = (moments: readonly Moment[]): number[][] =>
  moments.map(({ at, nodes, inUse }) => [
    (at - FROM) / 1_000,
    nodes.updated,
    nodes.updating,
    nodes.failed,
    nodes.outdated,
    inUse,
  ]);
const ended = (at: number) => ({ rest: { at: seconds(at), graceMs: 0 } });

describe('the past of a rollout', () => {
  it('is drawn from the records of the online nodes since the rollout began', () => {
    const cells = [
      node('updated', 2, 10),
      node('updated', 2, 12),
      node('updated', -500, -490),
      node('updated'),
      node('failed', 10, 30),
      node('updating', 40),
      node('offline', 20, 25),
      node('outdated'),
      node('held', 1, 2),
    ];
    const moments = past(cells);
    assert.deepEqual(rows(moments), [
      [0, 2, 0, 0, 6, 0],
      [2, 2, 2, 0, 4, 2],
      [10, 3, 2, 0, 3, 2],
      [12, 4, 2, 0, 2, 2],
      [30, 4, 1, 1, 2, 2],
      [50, 4, 1, 1, 2, 2],
    ]);
    assert.ok(moments.every(({ recorded, limit }) => recorded && limit === 5));
  });

  it('ends as the rollout did, without what nodes changed later', () => {
    const cells = [node('updated', 1, 3), node('updated', 20, 22), node('failed', 1, 30)];
    assert.deepEqual(rows(past(cells, ended(4))), [
      [0, 0, 0, 0, 1, 0],
      [1, 0, 1, 0, 0, 1],
      [3, 1, 0, 0, 0, 0],
      [4, 1, 0, 0, 0, 0],
    ]);
    assert.deepEqual(past([node('updated', 20, 22)], ended(4)), [], 'nothing is known of it');
  });

  it('has what was under way when the rollout was halted', () => {
    const cells = [node('failed', 1, 9), node('updated', 1, 2_000), node('outdated')];
    assert.deepEqual(rows(past(cells, { now: seconds(9_000), rest: { at: seconds(4), graceMs: 60_000 } })), [
      [0, 0, 0, 0, 2, 0],
      [1, 0, 1, 0, 1, 1],
      [9, 0, 0, 1, 1, 1],
    ]);
  });

  it('has no time after now, whatever the clocks of the nodes say', () => {
    assert.deepEqual(rows(past([node('updated', 1, 90)], { now: seconds(5) })).at(-1), [5, 1, 0, 0, 0, 0]);
  });

  it('draws an update in place as it ends: its pod is older than the rollout', () => {
    assert.deepEqual(rows(past([node('updated', -100, 4)], ended(4))), [
      [0, 0, 0, 0, 1, 0],
      [4, 1, 0, 0, 0, 0],
    ]);
  });

  it('never has more slots in use than the budget, however many nodes joined at once', () => {
    const cells = [node('updated', 1, 4), node('updated', 1, 5), node('updated', 1, 6)];
    assert.deepEqual(rows(past(cells, { limit: 2, ...ended(6) })), [
      [0, 0, 0, 0, 3, 0],
      [1, 0, 2, 0, 1, 2],
      [4, 1, 2, 0, 0, 2],
      [5, 2, 1, 0, 0, 1],
      [6, 3, 0, 0, 0, 0],
    ]);
    assert.equal(past(cells, { limit: 0 })[1]?.inUse, 3, 'there is no budget');
  });

  it('is no saw: between two waves, old pods terminate in the slots that were freed', () => {
    // Ten waves of five nodes; each starts for two seconds after the old pods have terminated for four.
    const waves = Array.from({ length: 10 }, (_, wave) => wave * 6 + 4);
    const cells = waves.flatMap((at) => Array.from({ length: 5 }, () => node('updated', at, at + 2)));
    const moments = past(cells, { now: seconds(60), ...ended(60) });
    const busy = moments.filter(({ at }) => at >= seconds(4) && at < seconds(60));
    assert.ok(busy.length > 9);
    assert.deepEqual(new Set(busy.map(({ inUse }) => inUse)), new Set([5]));
    const paused = past([node('updated', 1, 2), node('updated', 300, 301)], { now: seconds(400), ...ended(400) });
    assert.equal(paused.find(({ at }) => at === seconds(2))?.inUse, 0, 'a slot that is free for long');
  });

  it('stays small, with both ends', () => {
    const cells = Array.from({ length: 10_000 }, (_, index) => node('updated', index, index + 5));
    const all = rows(past(cells, { now: seconds(20_000) }));
    assert.ok(all.length <= MOST, `${all.length}`);
    assert.deepEqual([all[0]?.[0], all.at(-1)], [0, [20_000, 10_000, 0, 0, 0, 0]]);
  });

  it('loses no node, keeps the budget and runs forward, whatever the records say', () => {
    const phase = constantFrom<NodeCell[1]>('updated', 'failed', 'updating', 'outdated', 'broken', 'offline');
    const time = integer({ min: -20, max: 200 });
    const cell = tuple(phase, time, time).map(([is, began, end]) => node(is, began, end));
    const rest = option(record({ at: nat(100).map(seconds), graceMs: nat(60_000) }), { nil: undefined });
    check(
      property(array(cell, { maxLength: 60 }), nat(6), rest, (cells, limit, stopped) => {
        const moments = past(cells, { limit, now: seconds(150), rest: stopped });
        const sums = moments.map(({ nodes }) => stacked.reduce((sum, one) => sum + nodes[one], 0));
        assert.ok(new Set(sums).size <= 1);
        for (const [index, { at, nodes, inUse }] of moments.entries()) {
          assert.ok(index === 0 ? at === FROM : at > (moments[index - 1]?.at ?? at), 'time');
          assert.ok(
            Object.values(nodes).every((count) => count >= 0),
            'counts',
          );
          if (limit > 0) assert.ok(inUse <= limit && nodes.updating + Math.min(limit, nodes.failed) <= limit, 'budget');
        }
      }),
    );
  });
});
