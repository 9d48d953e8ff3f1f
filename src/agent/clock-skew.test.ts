import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClockSkew } from './clock-skew.ts';

test('the difference to the API server is what its last answer told, where that is more than usual', () => {
  let now = 1_000_000_000;
  const time = createClockSkew({ now: () => now });
  assert.equal(time.aheadMs(), 0);
  time.observe({ serverTime: now - 59_000 });
  assert.equal(time.aheadMs(), 0);
  time.observe({ serverTime: now - 3_600_000 });
  assert.equal(time.aheadMs(), 3_600_000);
  time.observe({});
  assert.equal(time.aheadMs(), 3_600_000);
  now += 10_000;
  time.observe({ serverTime: now + 3_600_000 });
  assert.equal(time.aheadMs(), -3_600_000);
});
