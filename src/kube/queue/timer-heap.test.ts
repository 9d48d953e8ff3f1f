import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createTestClock } from '../../../test/support/index.ts';
import { createTimerHeap } from './timer-heap.ts';

test('each key fires once, at its earliest time, and all share one timer', async () => {
  const times = fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c'), inMs: fc.integer({ min: -5, max: 100 }) }), {
    maxLength: 200,
  });
  await fc.assert(
    fc.asyncProperty(times, async (sets) => {
      const clock = createTestClock();
      const fired = new Map<string, number>();
      const deadlines = createTimerHeap(clock, (key) => {
        assert.ok(!fired.has(key), 'fired twice');
        fired.set(key, clock.now());
      });
      const expected = new Map<string, number>();
      for (const { key, inMs } of sets) {
        const at = clock.now() + inMs;
        expected.set(key, Math.min(expected.get(key) ?? Infinity, at));
        deadlines.set(key, at);
        assert.equal(clock.pending, 1);
      }
      assert.equal(deadlines.size, expected.size);
      const start = clock.now();
      await clock.advance(200);
      assert.deepEqual(fired, new Map([...expected].map(([key, at]) => [key, Math.max(at, start)])));
      assert.equal(clock.pending, 0);
    }),
    { numRuns: 50 },
  );
});

test('nothing fires and nothing is added after a stop', async () => {
  const clock = createTestClock();
  const deadlines = createTimerHeap(clock, () => assert.fail('fired'));
  deadlines.set('a', clock.now() + 1);
  deadlines.stop();
  deadlines.set('b', clock.now() + 1);
  assert.equal(clock.pending, 0);
  await clock.advance(10);
});

for (const [when, seen] of [
  ['and nothing is set meanwhile', false],
  ['and another time is set by the new clock', true],
] as const)
  test(`a key does not fire late when the clock is set back, ${when}`, async () => {
    const clock = createTestClock();
    let offset = 0;
    const fired: string[] = [];
    const deadlines = createTimerHeap({ ...clock, now: () => clock.now() + offset }, (key) => void fired.push(key));
    deadlines.set('a', clock.now() + 10_000);
    deadlines.set('b', clock.now() + 10_000);
    offset = -3_600_000;
    if (seen) deadlines.set('c', clock.now() + offset + 5_000);
    await clock.advance(10_000);
    assert.deepEqual(fired, seen ? ['a', 'b', 'c'] : ['a', 'b']);
    assert.equal(deadlines.size, 0);
    assert.equal(clock.pending, 0);
    deadlines.set('a', clock.now() + offset + 1_000);
    await clock.advance(999);
    assert.equal(fired.length, seen ? 3 : 2, 'the new clock is believed');
    await clock.advance(1);
    assert.equal(fired.at(-1), 'a');
  });
