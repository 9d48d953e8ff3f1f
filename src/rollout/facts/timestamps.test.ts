import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toEpochMs } from './timestamps.ts';

const cases: [string | null | undefined, number][] = [
  ['2026-03-01T10:00:00Z', Date.UTC(2026, 2, 1, 10)],
  ['2026-03-01T10:00:00.250Z', Date.UTC(2026, 2, 1, 10, 0, 0, 250)],
  ['2026-03-01T10:00:00.250999Z', Date.UTC(2026, 2, 1, 10, 0, 0, 250)],
  ['2026-03-01T12:00:00+02:00', Date.UTC(2026, 2, 1, 10)],
  [null, 0],
  [undefined, 0],
  ['', 0],
  ['yesterday', 0],
  ['2026', 0],
  ['2026-13-01T10:00:00Z', 0],
];
for (const [text, expected] of cases)
  it(`reads ${JSON.stringify(text)} as ${expected}`, () => assert.equal(toEpochMs(text), expected));
