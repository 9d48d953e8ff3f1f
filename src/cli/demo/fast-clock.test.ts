import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualClock } from '../../runtime/index.ts';
import { createFastClock } from './fast-clock.ts';

const START = 1_700_000_000_000;
const MINUTE = 60_000;

test('it runs at the given speed, from a time in the past', () => {
  const base = createVirtualClock(START);
  const fast = createFastClock({ base, speed: 10, behindMs: MINUTE });
  const from = base.now() - MINUTE;
  assert.equal(fast.now(), from);
  base.run(1000);
  assert.equal(fast.now(), from + 10_000);
});

test('timers fire in order, each at its own time', () => {
  const base = createVirtualClock(START);
  const fast = createFastClock({ base, speed: 10, behindMs: MINUTE });
  const fired: string[] = [];
  const from = fast.now();
  fast.timer(30, () => fired.push(`b at ${fast.now() - from}`));
  fast.timer(10, () => fired.push(`a at ${fast.now() - from}`));
  base.run(10);
  assert.deepEqual(fired, ['a at 10', 'b at 30']);
});

test('it is never ahead of real time', () => {
  const base = createVirtualClock(START);
  const fast = createFastClock({ base, speed: 10, behindMs: 1000 });
  for (let step = 0; step < 100; step += 1) {
    base.run(10);
    assert.ok(fast.now() <= base.now());
  }
  assert.equal(fast.now(), base.now());
});

test('it slows down instead of jumping when the system is busy', () => {
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

test('it catches up on request, and then runs in real time', async () => {
  const base = createVirtualClock(START);
  const fast = createFastClock({ base, speed: 10, behindMs: 10 * MINUTE });
  const caughtUp = fast.catchUp();
  base.run(11_000);
  await caughtUp;
  assert.equal(fast.now(), base.now());
  base.run(1000);
  assert.equal(fast.now(), base.now());
});

test('in real time there is nothing to catch up with', async () => {
  const base = createVirtualClock(START);
  const fast = createFastClock({ base, speed: 1 });
  assert.equal(fast.now(), base.now());
  await fast.catchUp();
});
