import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Read, readDeadline, readSpread } from './values.ts';

const AT = Date.parse('2026-11-21T17:00:00Z');
const valueOf = <T>(read: Read<T>): T | undefined => ('value' in read ? read.value : undefined);

describe('readDeadline', () => {
  for (const text of ['2026-11-21T17:00:00Z', '2026-11-21t17:00:00z', ' 2026-11-21T18:00:00.000+01:00 '])
    it(`reads "${text}"`, () => assert.equal(valueOf(readDeadline(text)), AT));
  for (const text of [
    '',
    '2026-11-21',
    '2026-11-21T17:00:00',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '1764000000',
  ])
    it(`refuses "${text}"`, () => assert.equal(valueOf(readDeadline(text)), undefined));
  it('knows leap years', () => {
    assert.equal(valueOf(readDeadline('2028-02-29T00:00:00Z')), Date.UTC(2028, 1, 29));
    assert.equal(valueOf(readDeadline('2026-02-29T00:00:00Z')), undefined);
  });
});

describe('readSpread', () => {
  for (const [text, ms] of [
    ['1h', 3_600_000],
    ['1h30m', 5_400_000],
    ['90m', 5_400_000],
    ['1.5h', 5_400_000],
    ['500ms', 500],
    ['0s', 0],
  ] as const)
    it(`reads "${text}"`, () => assert.equal(valueOf(readSpread(text)), ms));
  for (const text of ['', '1', '1d', '-1h', '1h x', 'h', '99999h'])
    it(`refuses "${text}"`, () => assert.equal(valueOf(readSpread(text)), undefined));
});
