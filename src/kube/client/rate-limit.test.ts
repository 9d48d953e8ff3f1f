import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestClock, settle } from '../../../test/support/index.ts';
import { createRateLimiter } from './rate-limit.ts';

const setUp = (qps: number, burst: number) => {
  const clock = createTestClock();
  const limiter = createRateLimiter(clock, qps, burst);
  const granted: number[] = [];
  const take = (id: number, signal?: AbortSignal): Promise<unknown> =>
    limiter.take(signal).then(
      () => granted.push(id),
      () => undefined,
    );
  return { clock, granted, take, limiter };
};

test('allows a burst at once, then the rate, in call order', async () => {
  const { clock, granted, take } = setUp(10, 5);
  for (let id = 0; id < 30; id += 1) void take(id);
  await settle();
  assert.equal(granted.length, 5);
  await clock.advance(1000);
  assert.equal(granted.length, 15);
  assert.equal(clock.pending, 1);
  await clock.advance(1500);
  assert.deepEqual(
    granted,
    Array.from({ length: 30 }, (_, id) => id),
  );
  assert.equal(clock.pending, 0);
  await clock.advance(60_000);
  for (let id = 30; id < 40; id += 1) void take(id);
  await settle();
  assert.equal(granted.length, 35, 'rest does not earn more than the burst');
});

test('an aborted caller takes no token and leaves no timer', async () => {
  const { clock, granted, take } = setUp(1, 1);
  const leave = new AbortController();
  void take(0);
  void take(1, leave.signal);
  void take(2);
  await settle();
  leave.abort(new Error('gone'));
  await clock.advance(1000);
  assert.deepEqual(granted, [0, 2]);
  const last = new AbortController();
  void take(3, last.signal);
  await settle();
  last.abort(new Error('gone'));
  assert.equal(clock.pending, 0);
});

test('a rate of zero disables the limit', async () => {
  const { granted, take } = setUp(0, 1);
  for (let id = 0; id < 50; id += 1) void take(id);
  await settle();
  assert.equal(granted.length, 50);
});
