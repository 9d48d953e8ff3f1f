import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { emptySnapshot, type Snapshot } from '../../src/cli/fleet/index.ts';
import type { Phase } from '../../src/words/index.ts';
import { drawLoop, type Scene } from './draw-loop.ts';

const SHOPS = 72;
const BOX = 34;

/** The first `changed` shops are in `phase`. */
const snapshot = (changed: number, phase: Phase, others: Phase, halted = false): Snapshot => ({
  ...emptySnapshot,
  nodes: Array.from({ length: SHOPS }, (_, index) => ({
    name: `${index % 2 ? 'berlin' : 'munich'}-${1 + (index >> 1)}`,
    phase: index < changed ? phase : others,
    image: 'till:2',
  })),
  counts: { [phase]: changed, [others]: SHOPS - changed },
  budget: { inUse: 3, limit: 7 },
  halted,
});

const good: Scene = {
  caption: 'A <b> & "c"',
  seconds: 12,
  holdSeconds: 2,
  snapshots: Array.from({ length: SHOPS + 1 }, (_, index) => snapshot(index, 'updated', 'outdated')),
};
const bad: Scene = {
  caption: 'It stops',
  seconds: 4,
  holdSeconds: 2,
  snapshots: [snapshot(3, 'updating', 'outdated'), snapshot(3, 'failed', 'outdated', true)],
};
const undo: Scene = { ...bad, caption: 'Undo', snapshots: [snapshot(SHOPS, 'updated', 'outdated')] };
const loop = drawLoop([good, bad, undo], 1);

test('every cell is within the picture', () => {
  const [, width = 0, height = 0] = (/viewBox="0 0 (\d+) (\d+)"/.exec(loop) ?? []).map(Number);
  const cells = [...loop.matchAll(/<use href="#\w+" x="([\d.]+)" y="([\d.]+)"/g)];
  assert.ok(new Set(cells.map(([, x, y]) => `${x} ${y}`)).size === SHOPS);
  for (const [, x, y] of cells) {
    assert.ok(Number(x) + BOX <= width - 56, `${x}`);
    assert.ok(Number(y) + BOX <= height - 56, `${y}`);
  }
});

test('the frames follow each other, and the last one of a scene stays', () => {
  const starts = [...loop.matchAll(/visibility:hidden\}([\d.]+)%/g)].map(([, share]) => Number(share));
  assert.deepEqual(
    starts,
    starts.toSorted((one, other) => one - other),
  );
  // The scenes of 12, 4 and 4 seconds: the second starts at 60 %, and halts after 2 seconds more.
  assert.deepEqual(starts.slice(-4), [50, 60, 70, 80]);
});

test('without motion it shows the halt: nothing after it is visible', () => {
  const frames = [...loop.matchAll(/<g id="f\d+"( visibility="hidden")?>(.*)/g)];
  assert.deepEqual(
    frames.filter(([, hidden]) => hidden).map(([, , drawn]) => /Undo/.test(drawn ?? '')),
    [true],
  );
  assert.match(loop, /@media \(prefers-reduced-motion:no-preference\)\{@keyframes/);
  assert.equal(loop.match(/animation:/g)?.length, frames.length - 1);
});

test('a frame draws only what differs from the one before', () => {
  const [, halt] = /<g id="f\d+">([^\n]*#failed[^\n]*)/.exec(loop) ?? [];
  assert.equal(halt?.match(/<use /g)?.length, 3);
});

test('text is escaped, numbers are valid, and the story is told in words', () => {
  assert.match(loop, /A &lt;b&gt; &amp; &quot;c&quot;/);
  assert.doesNotMatch(loop, /NaN|Infinity|undefined|<script/);
  assert.match(loop, /role="img" aria-label="[^"]*It stops: at the end, 69 outdated · 3 failed\. Undo/);
});

test('the loop of the README is small, and lasts 20 seconds', async () => {
  const file = await readFile(path.join(import.meta.dirname, '../../docs/images/loop.svg'), 'utf8');
  for (const svg of [loop, file]) assert.ok(svg.length < 80_000, `${svg.length}`);
  assert.match(file, / 20s step-end infinite/);
});
