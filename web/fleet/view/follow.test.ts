import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeCell } from '../types.ts';
import { isAtRest, type Mark, note, pictureOf, recall, withMarks } from './follow.ts';
import type { Moment } from './moments.ts';

const START = Date.parse('2030-01-01T00:00:00Z');
const at = (seconds: number): string => new Date(START + seconds * 1_000).toISOString();
const now = (seconds: number): number => START + seconds * 1_000;
type Head = Parameters<typeof note>[1];
const phases = {
  failed: 0,
  broken: 0,
  missing: 0,
  updating: 0,
  settling: 0,
  offline: 0,
  held: 0,
  outdated: 0,
  updated: 0,
};
const head = (counts: Partial<Head['phases']>, more: Partial<Head> = {}): Head => ({
  budget: { inUse: 0, limit: 3 },
  headline: { state: 'running' },
  marks: [],
  startedAt: at(0),
  phases: { ...phases, ...counts },
  ...more,
});
const halt: Mark = { at: at(10), kind: 'halt', what: 'Halted' };
const halted = (counts: Partial<Head['phases']>): Head =>
  head(counts, { headline: { state: 'halted' }, marks: [halt] });
const node = (phase: NodeCell[1], began: number, ended: number): NodeCell => [
  'n',
  phase,
  '',
  '',
  now(began) / 1_000,
  now(ended) / 1_000,
  '',
  '',
];
/** Seconds after the start; updated, failed, outdated; whether it is from records. */
const rows = (moments: readonly Moment[]) =>
  moments.map(({ at: time, nodes, recorded }) => [
    (time - START) / 1_000,
    nodes.updated,
    nodes.failed,
    nodes.outdated,
    recorded,
  ]);
/** As a page hears of a rollout that is running. */
const first = (shown: Head, cells: readonly NodeCell[], seconds: number) =>
  note(recall([], shown, cells, now(seconds)), shown, undefined, now(seconds));

describe('the time line of a rollout', () => {
  it('joins what the records tell and what the page sees, in the order of time', () => {
    const cells = [node('updated', 1, 4), node('outdated', 0, 0)];
    let moments = first(head({ updated: 1, outdated: 1 }), cells, 9.5);
    moments = note(moments, head({ updated: 1, updating: 1 }), head({}), now(9));
    assert.deepEqual(rows(moments), [
      [0, 0, 0, 2, true],
      [1, 0, 0, 1, true],
      [4, 1, 0, 1, true],
      [9.5, 1, 0, 0, false],
    ]);
    // The stream was lost for a while.
    const seen = head({ updated: 2 });
    moments = recall(moments, seen, [node('updated', 1, 4), node('updated', 10, 15)], now(20));
    moments = note(moments, seen, seen, now(20));
    assert.deepEqual(rows(moments).slice(3), [
      [9.5, 1, 0, 0, false],
      [15, 2, 0, 0, true],
      [20, 2, 0, 0, false],
    ]);
  });

  it('does not become longer while the rollout is halted, until something changes', () => {
    let moments = note([], head({ outdated: 3 }), undefined, now(0));
    moments = note(moments, halted({ failed: 1, outdated: 2 }), head({}), now(10));
    for (const away of [0, 1, 0])
      moments = note(moments, halted({ failed: 1, outdated: 2 - away }), halted({}), now(3_600 + away));
    assert.deepEqual(rows(moments), [
      [0, 0, 0, 3, false],
      [10, 0, 1, 2, false],
    ]);
    moments = note(moments, halted({ failed: 2, outdated: 1 }), halted({}), now(7_200));
    assert.equal(rows(moments).at(-1)?.[0], 7_200);
    moments = note(moments, head({ failed: 2, outdated: 1 }), halted({}), now(7_300));
    assert.equal(rows(moments).at(-1)?.[0], 7_300, 'it was resumed');
  });

  it('ends with the halt for who comes later', () => {
    const moments = first(halted({ failed: 1, held: 1 }), [node('failed', 1, 12), node('held', 0, 0)], 90_000);
    assert.deepEqual(
      rows(moments).map(([time, , failed]) => [time, failed]),
      [
        [0, 0],
        [1, 0],
        [12, 1],
      ],
    );
    assert.equal(moments.at(-1)?.nodes.held, 1, 'as it is now');
    assert.equal(rows(first(halted({ held: 1 }), [node('held', 0, 0)], 90_000)).at(-1)?.[0], 10);
  });

  it('ends when all online nodes are updated, whatever happens to them later', () => {
    const finished = head({ updated: 2 }, { headline: { state: 'complete' }, finishedAt: at(20) });
    let moments = note([], head({ outdated: 2 }), undefined, now(0));
    moments = note(moments, finished, head({}), now(21));
    const end = [
      [0, 0, 0, 2, false],
      [20, 2, 0, 0, false],
    ];
    assert.deepEqual(rows(moments), end);
    moments = note(moments, head({ failed: 2 }, { finishedAt: at(20) }), finished, now(900));
    assert.deepEqual(rows(moments), end);
    const later = first(finished, [node('updated', 5, 20), node('updated', 600, 700)], 900);
    assert.deepEqual(rows(later).at(-1), [20, 1, 0, 0, true]);
    assert.equal(rows(first(finished, [node('updated', 5, 21)], 900)).at(-1)?.[0], 21, 'the times are rounded');
    assert.deepEqual(first(head({ updated: 1 }, { startedAt: undefined, finishedAt: at(0) }), [], 900), []);
  });

  it('keeps the marks that were seen', () => {
    const resumed: Mark = { at: at(30), kind: 'resume', what: 'Resumed after a pause' };
    const paused: Mark = { at: at(20), kind: 'pause', what: 'Paused' };
    const marks = withMarks(withMarks([], [halt, paused]), [{ ...halt, what: 'other' }, resumed]);
    assert.deepEqual(marks, [halt, paused, resumed]);
    assert.equal(withMarks(marks, [halt]), marks, 'nothing is new');
  });

  it('is drawn until now while it runs, and with little room after its end', () => {
    const running = head({ outdated: 1 });
    const moments = note(note([], running, undefined, now(0)), running, running, now(50));
    const live = pictureOf(moments, [], running, now(100));
    assert.deepEqual([live?.to, live?.moments.at(-1)?.at], [now(100), now(100)]);
    const over = pictureOf(moments, [halt, { ...halt, at: at(100) }], halted({ outdated: 1 }), now(90_000));
    assert.deepEqual([over?.from, over?.to, over?.moments.at(-1)?.at], [now(0), now(104), now(100)]);
    assert.deepEqual(
      over?.marks.map(({ time }) => time),
      [now(10), now(100)],
    );
    const early = { ...halt, at: at(-5) };
    assert.equal(pictureOf(moments, [early], running, now(100))?.marks[0]?.time, now(0), 'the clocks differ');
    assert.equal(pictureOf(moments, [], running, now(20))?.to, now(50), 'the clock was set back');
    assert.equal(pictureOf([], [halt], running, now(1)), undefined);
    assert.equal(pictureOf(moments.slice(0, 1), [], halted({}), now(9)), undefined, 'only one moment is known');
  });

  it('knows when a rollout is at rest', () => {
    assert.equal(isAtRest(head({})), false);
    for (const state of ['halted', 'paused', 'complete'] as const)
      assert.equal(isAtRest(head({}, { headline: { state } })), true, state);
    assert.equal(isAtRest(head({}, { finishedAt: at(1) })), true);
  });
});
