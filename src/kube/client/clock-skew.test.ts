import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClockSkew } from './clock-skew.ts';

test('the clock skew is that of the last response, if it exceeds the tolerance', () => {
  let now = 1_000_000_000;
  const time = createClockSkew({ now: () => now });
  assert.equal(time.aheadMs(), 0);
  time.observe({ serverTime: now - 59_000, seconds: 0 });
  assert.equal(time.aheadMs(), 0);
  time.observe({ serverTime: now - 3_600_000, seconds: 0 });
  assert.equal(time.aheadMs(), 3_600_000);
  time.observe({ seconds: 0 });
  assert.equal(time.aheadMs(), 3_600_000);
  now += 10_000;
  time.observe({ serverTime: now + 3_600_000, seconds: 0 });
  assert.equal(time.aheadMs(), -3_600_000);
});

test('a response that arrives late says nothing about the clock, and no more than the rest of its difference', () => {
  const now = 1_000_000_000;
  const time = createClockSkew({ now: () => now });
  // The process was stopped for an hour between the response and the reading of it.
  time.observe({ serverTime: now - 3_600_000, seconds: 3_600 });
  assert.equal(time.aheadMs(), 0);
  time.observe({ serverTime: now - 7_200_000, seconds: 3_600 });
  assert.equal(time.aheadMs(), 3_600_000);
  time.observe({ serverTime: now + 3_600_000, seconds: 3_600 });
  assert.equal(time.aheadMs(), -3_600_000);
});
