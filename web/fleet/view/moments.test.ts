import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeCell } from '../types.ts';
import { type Moment, pastMoments, withMoment } from './moments.ts';

const FROM = 1_000_000;
const SLOTS = 5;
/** A node whose update took from `began` to `ended`, in seconds after the rollout began. */
const node = (phase: NodeCell[1], began?: number, ended?: number): NodeCell => {
  const at = (seconds: number | undefined): number => (seconds === undefined ? 0 : FROM / 1_000 + seconds);
  return ['n', phase, '', '', at(began), at(ended), ''];
};
/** Seconds after the rollout began, nodes at the target, failed, slots in use. */
const rows = (moments: readonly Moment[]): number[][] =>
  moments.map(({ at, updated, failed, inUse }) => [(at - FROM) / 1_000, updated, failed, inUse]);

describe('the time line of a rollout', () => {
  it('is drawn from the records of the nodes since the rollout began', () => {
    const cells = [
      node('updated', 2, 10),
      node('updated', 2, 12),
      node('updated', -500, -490),
      node('updated'),
      node('failed', 12, 30),
      node('updating', 40),
      node('offline', 20, 25),
      node('outdated'),
    ];
    assert.deepEqual(rows(pastMoments(cells, FROM, SLOTS, FROM + 50_000)), [
      [0, 2, 0, 0],
      [2, 2, 0, 2],
      [10, 3, 0, 1],
      [12, 4, 0, 1],
      [30, 4, 1, 1],
      [40, 4, 1, 2],
      [50, 4, 1, 2],
    ]);
  });

  it('ends with the last change, if the rollout is complete', () => {
    assert.deepEqual(rows(pastMoments([node('updated', 1, 3)], FROM, SLOTS)), [
      [0, 0, 0, 0],
      [1, 0, 0, 1],
      [3, 1, 0, 0],
    ]);
  });

  it('has no time after now, whatever the clocks of the nodes say', () => {
    assert.deepEqual(rows(pastMoments([node('updated', 1, 90)], FROM, SLOTS, FROM + 5_000)).at(-1), [5, 1, 0, 0]);
  });

  it('draws an update in place as it ends: its pod is older than the rollout', () => {
    assert.deepEqual(rows(pastMoments([node('updated', -100, 4)], FROM, SLOTS)), [
      [0, 0, 0, 0],
      [4, 1, 0, 0],
    ]);
  });

  it('never shows more slots in use than the budget has, however many nodes joined at once', () => {
    const cells = [node('updated', 1, 4), node('updated', 1, 5), node('updated', 1, 6)];
    assert.deepEqual(rows(pastMoments(cells, FROM, 2)), [
      [0, 0, 0, 0],
      [1, 0, 0, 2],
      [4, 1, 0, 2],
      [5, 2, 0, 1],
      [6, 3, 0, 0],
    ]);
    assert.equal(pastMoments(cells, FROM, 0)[1]?.inUse, 3, 'the budget of that time is not known');
  });

  it('stays small, with both ends', () => {
    const cells = Array.from({ length: 10_000 }, (_, index) => node('updated', index, index + 5));
    const all = pastMoments(cells, FROM, SLOTS, FROM + 20_000_000);
    assert.ok(all.length <= 600, `${all.length}`);
    assert.deepEqual(
      [rows(all)[0], rows(all).at(-1)],
      [
        [0, 0, 0, 1],
        [20_000, 10_000, 0, 0],
      ],
    );
  });

  it('grows only where something changes', () => {
    let moments: readonly Moment[] = [];
    const add = (at: number, updated: number): void => {
      moments = withMoment(moments, { at: FROM + at * 1_000, updated, failed: 0, inUse: 0 });
    };
    for (const at of [0, 1, 2, 3]) add(at, 0);
    add(4, 1);
    for (const at of [5, 6]) add(at, 1);
    assert.deepEqual(
      rows(moments).map(([at]) => at),
      [0, 3, 4, 6],
    );
    for (let at = 7; at < 5_000; at += 1) add(at, at);
    assert.ok(moments.length <= 601, `${moments.length}`);
    assert.equal(moments[0]?.at, FROM);
    assert.equal(moments.at(-1)?.updated, 4_999);
  });
});
