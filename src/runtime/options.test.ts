import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDuration } from './options.ts';

test('parses seconds and the duration formats of other controllers', () => {
  const cases: [string, number][] = [
    ['15', 15_000],
    ['1.5', 1_500],
    ['15s', 15_000],
    ['500ms', 500],
    ['1m30s', 90_000],
    ['2h', 7_200_000],
    ['0.5s', 500],
  ];
  for (const [text, ms] of cases) assert.equal(parseDuration('--f', text), ms, text);
});

test('refuses anything else', () => {
  for (const text of ['', '0', '0s', 's', '15 s', 'x15s', '15sx', '-1s', '1d', '1.s', 'Infinity', '1e3'])
    assert.throws(() => parseDuration('--f', text), { code: 'InvalidOption', flag: '--f' }, text);
});
