import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualClock } from '../../runtime/index.ts';
import { createFastClock } from './fast-clock.ts';

const START = 1_700_000_000_000;
const MINUTE = 60_000;

test('time passes as many times faster as asked for, from a point in the past', () => {
  const base = createVirtualClock(START);
  const fast = createFastClock({ base, speed: 10, behindMs: MINUTE });
  assert.equal(fast.now(), START - MINUTE);
  base.run(1000);
  assert.equal(fast.now(), START - MINUTE + 10_000);
});

test('timers fire in the order of their times, each at its own', () => {
  const base = createVirtualClock(START);
  const fast = createFastClock({ base, speed: 10, behindMs: MINUTE });
  const fired: string[] = [];
  const from = fast.now();
  fast.timer(30, () => fired.push(`b at ${fast.now() - from}`));
  fast.timer(10, () => fired.push(`a at ${fast.now() - from}`));
  base.run(10);
  assert.deepEqual(fired, ['a at 10', 'b at 30']);
});

test('it is never ahead of the machine', () => {
  const base = createVirtualClock(START);
  const fast = createFastClock({ base, speed: 10, behindMs: 1000 });
  for (let step = 0; step < 100; step += 1) {
    base.run(10);
    assert.ok(fast.now() <= base.now());
  }
  assert.equal(fast.now(), base.now());
});

test('a machine that stands still for a while slows it down instead of letting it jump', () => {
  let now = START;
  const timers: (() => void)[] = [];
  const base = {
    now: () => now,
    timer: (_: number, fire: () => void) => {
      timers.push(fire);
      return { cancel: () => undefined };
    },
  };
  const fast = createFastClock({ base, speed: 10, behindMs: MINUTE });
  now += 5000;
  timers.shift()?.();
  assert.equal(fast.now(), START - MINUTE + 400);
});

test('it catches up when asked to, and goes on at the pace of the machine', async () => {
  const base = createVirtualClock(START);
  const fast = createFastClock({ base, speed: 10, behindMs: 10 * MINUTE });
  const caughtUp = fast.catchUp();
  base.run(11_000);
  await caughtUp;
  assert.equal(fast.now(), base.now());
  base.run(1000);
  assert.equal(fast.now(), base.now());
});

test('at the pace of the machine there is nothing to catch up', async () => {
  const base = createVirtualClock(START);
  const fast = createFastClock({ base, speed: 1 });
  assert.equal(fast.now(), START);
  await fast.catchUp();
});
