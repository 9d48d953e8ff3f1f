import assert from 'node:assert/strict';
import { it } from 'node:test';
import { threadCpuMs } from '../measure/machine.ts';
import { every } from './every.ts';
import { createWorkingClock } from './working-clock.ts';

it('catches up when work made it late', async () => {
  const clock = createWorkingClock(0);
  const counts: number[] = [];
  let lateBy = 0;
  clock.timer(995, () => {
    const end = threadCpuMs() + 50;
    while (threadCpuMs() < end);
  });
  const end = every(clock, 10, (count) => {
    lateBy = Math.max(lateBy, clock.now() - 10 * (count + 1));
    counts.push(count);
  });
  await clock.work(() => clock.now() >= 2_000);
  end();
  assert.ok(lateBy >= 40, `it was late by ${lateBy} ms`);
  assert.deepEqual(counts.slice(0, 199), [...Array(199).keys()]);
  assert.ok(counts.length <= 202, `${counts.length} times in 2 s`);
  await assert.rejects(
    clock.work(() => false),
    /never happens/,
  );
});
