import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock } from './clock.ts';

describe('test clock', () => {
  it('keeps the delay of pending timers when the time is set', async () => {
    const clock = createTestClock(1000);
    const fired: number[] = [];
    const startedAt = clock.now();
    clock.timer(50, () => void fired.push(clock.now() - startedAt));
    clock.jump(-500);
    assert.deepEqual([clock.now() - startedAt, clock.pending], [-500, 1]);
    await clock.advance(49);
    assert.deepEqual(fired, []);
    await clock.advance(1);
    assert.deepEqual([fired, clock.pending], [[-450], 0]);
  });
});
