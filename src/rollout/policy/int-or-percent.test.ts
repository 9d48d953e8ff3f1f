import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { count, formatIntOrPercent, parseIntOrPercent, percent, scaledValue } from './int-or-percent.ts';

describe('parseIntOrPercent', () => {
  for (const [text, value] of [
    ['0', count(0)],
    ['1', count(1)],
    [' 12 ', count(12)],
    ['0%', percent(0)],
    ['10%', percent(10)],
    ['100%', percent(100)],
    ['101%', percent(101)],
  ] as const)
    it(`reads "${text}"`, () => {
      assert.deepEqual(parseIntOrPercent(text), value);
      assert.equal(formatIntOrPercent(value), text.trim());
    });

  for (const text of [
    '',
    ' ',
    'abc',
    '-1',
    '-1%',
    '1.5',
    '1,5',
    '+1',
    '%',
    '10 %',
    '10%%',
    '0x10',
    '1e3',
    '9999999999',
  ])
    it(`refuses "${text}"`, () => assert.equal(parseIntOrPercent(text), undefined));
});

describe('resolve', () => {
  for (const [value, total, up, down] of [
    [count(3), 0, 3, 3],
    [percent(10), 0, 0, 0],
    [percent(10), 1, 1, 0],
    [percent(10), 10, 1, 1],
    [percent(10), 11, 2, 1],
    [percent(7), 100, 7, 7],
    [percent(29), 100, 29, 29],
    [percent(100), 37, 37, 37],
    [percent(0), 37, 0, 0],
  ] as const)
    it(`${formatIntOrPercent(value)} of ${total} is ${up} up and ${down} down`, () => {
      assert.equal(scaledValue(value, total, 'up'), up);
      assert.equal(scaledValue(value, total, 'down'), down);
    });
});
