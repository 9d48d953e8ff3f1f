import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPart, partNames } from './parts/index.ts';
import { estimateMs, formatLeft, introduction } from './text.ts';

const parts = partNames.map((name) => createPart[name]({ fleet: 40, random: Math.random }));
const options = { speed: 10, seed: 1, keep: false };
/** Of the live view. */
const READING_MS = 1_600;

test('the demo begins with the fleet, whose bad version is undone within 25 s', () => {
  const [fleet] = parts;
  const undo = fleet?.steps.findIndex(({ title }) => title.startsWith('Undo')) ?? -1;
  assert.ok(undo > 0);
  const until = fleet?.steps.slice(0, undo + 1) ?? [];
  assert.ok(estimateMs(until, { speed: 10, readingMs: READING_MS }) <= 25_000);
});

test('the first lines say how long it takes, with the time to read', () => {
  const [, live = ''] = introduction(parts, options, READING_MS);
  assert.match(
    live,
    /^31 checked steps in about 130 s\. The cluster's time runs 10 times as fast as yours \(seed 1\)\.$/,
  );
  const [, log = ''] = introduction(parts, options, 0);
  assert.match(log, /^31 checked steps in about 80 s\./);
});

test('the time left is in seconds, or minutes', () => {
  assert.deepEqual([0, 59_400, 60_000, 125_000].map(formatLeft), ['0 s', '59 s', '1:00 min', '2:05 min']);
});
