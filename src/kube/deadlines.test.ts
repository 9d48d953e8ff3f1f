import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createDeadlines } from './deadlines.ts';
import { createManualClock } from './testing/index.ts';

test('each key fires once, at the earliest of its times, and one timer serves all', async () => {
  const times = fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c'), inMs: fc.integer({ min: -5, max: 100 }) }), {
    maxLength: 200,
  });
  await fc.assert(
    fc.asyncProperty(times, async (sets) => {
      const clock = createManualClock();
      const fired = new Map<string, number>();
      const deadlines = createDeadlines(clock, (key) => {
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

test('after a stop nothing fires and nothing is taken', async () => {
  const clock = createManualClock();
  const deadlines = createDeadlines(clock, () => assert.fail('fired'));
  deadlines.set('a', clock.now() + 1);
  deadlines.stop();
  deadlines.set('b', clock.now() + 1);
  assert.equal(clock.pending, 0);
  await clock.advance(10);
});
