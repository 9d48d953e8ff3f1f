import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { wrap } from '../../view/index.ts';
import type { Phase } from '../../words/index.ts';
import { drawFrame, type FrameText } from './frame.ts';
import { type Line, piece, toText, widthOf } from './line.ts';
import type { EventLine, Snapshot } from './snapshot.ts';

const TEXT =
  'Watch the budget: 4 of 36 online nodes may be down, a slot is used again the moment its node is back. The dark ones are skipped.';
const text: FrameText = {
  head: (width) => [[piece('a fleet of 40 shops', 'bold')], ...wrap(TEXT, width).map((line): Line => [piece(line)])],
};

const event = (index: number): EventLine => ({
  reason: 'SuccessfulDelete',
  note: `Deleted pod till-${index} on shop-${index}.`,
  warning: false,
});

/** One node in ten offline, one failed, the first half updated. */
const phaseOf = (index: number, count: number): Phase =>
  index === 3 ? 'failed' : index % 10 === 9 ? 'offline' : index < count / 2 ? 'updated' : 'outdated';

const snapshot = (count: number, change: Partial<Snapshot> = {}): Snapshot => {
  const nodes = Array.from({ length: count }, (_, index) => ({
    name: `shop-${index}`,
    phase: phaseOf(index, count),
    image: 'till:2',
  }));
  const counts: Partial<Record<Phase, number>> = {};
  for (const { phase } of nodes) counts[phase] = (counts[phase] ?? 0) + 1;
  const budget = { inUse: 3, limit: 4 };
  return {
    nodes,
    counts,
    budget,
    halted: false,
    events: Array.from({ length: 9 }, (_, index) => event(index)),
    ...change,
  };
};

const draw = (of: Snapshot, columns = 80, rows = 24, unicode = true): string[] =>
  drawFrame(text, of, { columns, rows, unicode }).map((line) => toText(line, false));

const countOf = (lines: readonly string[], glyph: string): number => lines.join('').split(glyph).length - 1;

const sizes = [
  [80, 24],
  [80, 16],
  [40, 16],
  [50, 30],
  [120, 40],
  [200, 60],
] as const;

for (const count of [0, 1, 3, 6, 7, 40, 41, 400, 1000, 10_000])
  test(`${count} nodes fit into screens of all sizes`, () => {
    for (const [columns, rows] of sizes) {
      const lines = drawFrame(text, snapshot(count), { columns, rows, unicode: true });
      assert.ok(lines.length <= rows, `${lines.length} lines at ${columns}x${rows}`);
      for (const line of lines) assert.ok(widthOf(line) <= columns, `${columns}x${rows}: ${toText(line, false)}`);
    }
  });

test('no budget is said to be none, zero, or not there yet', () => {
  const drawn = (change: Partial<Snapshot>): string =>
    draw(snapshot(40, { budget: { inUse: 0, limit: 0 }, ...change }), 80, 24).join('\n');
  assert.match(drawn({ byOwners: true }), /budget +none: owners decide/);
  assert.match(drawn({}), /budget +zero: no node is updated/);
  assert.match(drawn({ nodes: [] }), /budget +nothing to roll out yet/);
});

test('40 nodes at 80x24 are 40 cells, with the legend, the budget and the newest events', () => {
  const lines = draw(snapshot(40));
  // The legend shows each glyph once more.
  assert.equal(countOf(lines, '×'), 1 + 1);
  assert.equal(countOf(lines, '✓'), 17 + 1);
  assert.equal(countOf(lines, '–'), 4 + 1);
  assert.match(lines.join('\n'), /updated +17/);
  assert.match(lines.join('\n'), /offline +4/);
  assert.match(lines.join('\n'), /budget +█+░+ +3 of 4 in use/);
  assert.match(lines.at(-1) ?? '', /Deleted pod till-8 on shop-8/);
  assert.match(lines[0] ?? '', /^ a fleet of 40 shops$/);
});

test('400 nodes at 80x24 are 400 cells', () => {
  const lines = draw(snapshot(400));
  const drawn = ['×', '✓', '–', '·'].reduce((sum, glyph) => sum + countOf(lines, glyph) - 1, 0);
  assert.equal(drawn, 400);
});

test('a cell that stands for several nodes shows the worst', () => {
  const lines = draw(snapshot(1000));
  assert.equal(countOf(lines, '×'), 1 + 1);
  assert.match(lines.join('\n'), /one cell = \d+ nodes/);
});

test('a large fleet uses the whole screen', () => {
  const lines = draw(snapshot(10_000), 240, 70);
  const drawn = ['×', '✓', '–', '·'].reduce((sum, glyph) => sum + countOf(lines, glyph) - 1, 0);
  assert.equal(drawn, 10_000);
});

test('notes are left out from their end where the screen is too small', () => {
  const notes = Array.from({ length: 30 }, (_, index): Line => [piece(`note ${index}`)]);
  const lines = drawFrame({ ...text, notes: () => notes }, snapshot(40), { columns: 80, rows: 24, unicode: true });
  const drawn = lines.map((line) => toText(line, false)).join('\n');
  assert.ok(lines.length <= 24);
  assert.match(drawn, /note 0\n/);
  assert.match(drawn, /budget +█/);
  assert.doesNotMatch(drawn, /note 29/);
});

test('control characters of the cluster are drawn, not sent to the terminal', () => {
  const note = 'before \u001B[2J\r\n\u202E\u009Bafter';
  const lines = drawFrame(text, snapshot(40, { events: [{ reason: 'A\u0007B', note, warning: true }] }), {
    columns: 80,
    rows: 24,
    unicode: true,
  });
  for (const line of lines) assert.doesNotMatch(toText(line, false), /[\p{Cc}\p{Cf}]/u);
  const drawn = lines.map((line) => toText(line, true)).join('');
  assert.match(stripVTControlCharacters(drawn), /A\\u0007B .*before \\u001b\[2J\\r\\n\\u202e\\u009bafter/);
});

test('names and images of listed nodes are escaped', () => {
  const nodes = [{ name: 'a\u001B[2J', phase: 'updated' as const, image: 'b\u0007' }];
  const drawn = draw(snapshot(1, { nodes })).join('');
  assert.match(drawn, /a\\u001b\[2J +b\\u0007/);
});

test('neighbors of one phase share a color code', () => {
  const lines = drawFrame(text, snapshot(400), { columns: 80, rows: 24, unicode: true });
  const row = lines.find((line) => toText(line, false).includes('✓✓✓')) ?? [];
  assert.equal(toText(row, true).split('✓✓✓').length > 5, true);
  assert.ok(toText(row, true).split('\u001B[48;5;').length < 20);
});

test('a few nodes are listed by name and image', () => {
  const lines = draw(snapshot(3));
  assert.match(lines.join('\n'), / ✓ +shop-0 +till:2/);
});

test('a halted rollout says so', () => {
  assert.match(draw(snapshot(40, { halted: true })).join('\n'), /HALTED/);
});

test('ASCII glyphs also tell the phases apart', () => {
  const lines = draw(snapshot(40), 80, 24, false);
  assert.doesNotMatch(lines.join(''), /[^\x20-\x7e]/);
  assert.match(lines.join('\n'), /x {2}failed +1/);
});

test('colors do not change the text', () => {
  const lines = drawFrame(text, snapshot(40), { columns: 80, rows: 24, unicode: true });
  for (const line of lines) {
    const colored = toText(line, true);
    assert.equal(stripVTControlCharacters(colored).trimEnd(), toText(line, false).trimEnd());
  }
  assert.ok(lines.some((line) => toText(line, true).includes('\u001B[48;5;')));
});

test('a long Event continues below, and is never cut', () => {
  const note = `The rollout is halted: the target revision failed on ${'shop-00, '.repeat(9)}and so on.`;
  const lines = draw(snapshot(40, { events: [event(1), { reason: 'RolloutHalted', note, warning: true }] }));
  const from = lines.findIndex((line) => line.includes('RolloutHalted'));
  assert.match(lines.slice(from).join(' ').replaceAll(/\s+/g, ' '), /and so on\./);
});

test('a long reason does not touch its note', () => {
  const reason = 'SuccessfulUpdatePodInPlace';
  const lines = draw(snapshot(40, { events: [{ reason, note: 'Started.', warning: false }] }));
  assert.match(lines.join('\n'), /SuccessfulUpdatePodInPlace Started\./);
});
