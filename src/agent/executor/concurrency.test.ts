import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createVirtualClock, sleep } from '../../runtime/index.ts';
import { createMutex } from './concurrency.ts';

describe('the mutex', () => {
  it('runs tasks in order, also after a failed one', async () => {
    const clock = createVirtualClock(0);
    const mutex = createMutex(clock);
    const log: string[] = [];
    const work = (name: string, fails = false) =>
      mutex.run(async () => {
        log.push(`${name} begins`);
        await sleep(clock, 10);
        log.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      });
    const all = Promise.allSettled([work('a', true), work('b'), work('c')]);
    await clock.advance(30);
    const results = await all;
    assert.deepEqual(log, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
    assert.deepEqual(
      results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed')),
      ['failed', 'b', 'c'],
    );
  });

  it('does not start a task that waited too long, and keeps the order of the others', async () => {
    const clock = createVirtualClock(0);
    const startedAt = clock.now();
    const mutex = createMutex(clock);
    let running = 0;
    let most = 0;
    const work = (until?: number) =>
      mutex.run(async () => {
        running += 1;
        most = Math.max(most, running);
        await sleep(clock, 100);
        running -= 1;
        return clock.now() - startedAt;
      }, until);
    const all = Promise.all([work(), work(startedAt + 50), work()]);
    await clock.advance(300);
    assert.deepEqual(await all, [100, undefined, 200]);
    assert.equal(most, 1);
  });
});
