import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sleep } from './clock.ts';
import { createVirtualClock } from './virtual-clock.ts';

describe('virtual clock', () => {
  it('fires timers by time, equal times in the order they were set', () => {
    const clock = createVirtualClock(1000, { fractionMs: 0 });
    const fired: string[] = [];
    clock.timer(20, () => fired.push(`late ${clock.now()}`));
    clock.timer(10, () => {
      fired.push(`first ${clock.now()}`);
      clock.timer(0, () => fired.push(`nested ${clock.now()}`));
    });
    clock.timer(10, () => fired.push(`second ${clock.now()}`));
    clock.run(19);
    assert.deepEqual(fired, ['first 1010', 'second 1010', 'nested 1010']);
    assert.equal(clock.now(), 1019);
    clock.run(1);
    assert.equal(fired.at(-1), 'late 1020');
  });

  it('shows no whole milliseconds, as the clock of a process', () => {
    const clock = createVirtualClock(1000);
    const shown: number[] = [clock.now()];
    clock.timer(10, () => void shown.push(clock.now()));
    clock.run(15);
    shown.push(clock.now());
    assert.deepEqual(shown, [1000.375, 1010.375, 1015.375]);
    assert.equal(createVirtualClock(1000, { fractionMs: 0.5 }).now(), 1000.5);
  });

  it('waits whole milliseconds, and fires no timer early', () => {
    const clock = createVirtualClock(0);
    const startedAt = clock.now();
    const fired: number[] = [];
    for (const delay of [0.2, 1, 1.5]) clock.timer(delay, () => void fired.push(clock.now() - startedAt));
    clock.run(10);
    assert.deepEqual(fired, [1, 1, 2]);
  });

  it('fires no cancelled timer, and none twice', () => {
    const clock = createVirtualClock(0);
    let count = 0;
    const timer = clock.timer(5, () => (count += 1));
    const other = clock.timer(5, () => (count += 10));
    other.cancel();
    clock.run(10);
    timer.cancel();
    clock.run(10);
    assert.equal(count, 1);
  });

  it('keeps the order of the remaining timers when most are cancelled', () => {
    const clock = createVirtualClock(0);
    const fired: number[] = [];
    const timers = Array.from({ length: 1000 }, (_, index) =>
      clock.timer(500 - (index % 500), () => fired.push(index)),
    );
    for (const [index, timer] of timers.entries()) if (index % 100 !== 0) timer.cancel();
    clock.run(500);
    assert.deepEqual(fired, [400, 900, 300, 800, 200, 700, 100, 600, 0, 500]);
  });

  it('stops when the condition holds, and reports when it never does', () => {
    const clock = createVirtualClock(0, { fractionMs: 0 });
    let ticks = 0;
    const tick = (): void => {
      ticks += 1;
      clock.timer(10, tick);
    };
    clock.timer(10, tick);
    assert.equal(
      clock.runUntil(() => ticks === 3, 1000),
      true,
    );
    assert.equal(clock.now(), 30);
    assert.equal(
      clock.runUntil(() => ticks === 100, 50),
      false,
    );
    assert.equal(clock.now(), 80);
  });

  it('runs code that awaits between timers', async () => {
    const clock = createVirtualClock(0, { fractionMs: 0 });
    const at: number[] = [];
    const walk = async (): Promise<void> => {
      for (let step = 0; step < 3; step += 1) {
        await sleep(clock, 10);
        at.push(clock.now());
      }
    };
    const walked = walk();
    await clock.advance(35);
    await walked;
    assert.deepEqual(at, [10, 20, 30]);
    assert.equal(clock.now(), 35);
  });
});
