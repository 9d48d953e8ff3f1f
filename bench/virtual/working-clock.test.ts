import assert from 'node:assert/strict';
import { it } from 'node:test';
import { threadCpuMs } from '../measure/machine.ts';
import { createWorkingClock } from './working-clock.ts';

const spend = (ms: number): void => {
  const end = threadCpuMs() + ms;
  while (threadCpuMs() < end);
};

it('lets time pass by work, and by what is waited for', async () => {
  const clock = createWorkingClock(0);
  const fired: number[] = [];
  clock.timer(1_000, () => {
    spend(50);
    clock.timer(0, () => clock.timer(100, () => fired.push(clock.now())));
  });
  clock.timer(1_010, () => fired.push(clock.now()));
  await clock.work(() => fired.length === 2);
  const [late = 0, later = 0] = fired;
  assert.ok(late >= 1_049 && late < 1_500, `a timer that was due during work fired at ${late}`);
  assert.ok(later >= late + 100 && later < late + 200, `one of 100 ms that was set after it fired at ${later}`);
});

it('rejects once nothing is left to wait for', async () => {
  await assert.rejects(
    createWorkingClock(0).work(() => false),
    /never happens/,
  );
});

it('takes no time for what another machine does', async () => {
  const clock = createWorkingClock(0);
  const fired: number[] = [];
  clock.timer(1_000, () => {
    clock.free(() => clock.free(() => spend(200)));
    clock.timer(10, () => fired.push(clock.now()));
  });
  await clock.work(() => fired.length === 1);
  const [at = 0] = fired;
  assert.ok(at >= 1_010 && at < 1_100, `a timer of 10 ms after 200 ms of others' work fired at ${at - 1_000}`);
});

it('ends after the longest time that it may take, however much happens', async () => {
  const clock = createWorkingClock(0);
  const tick = (): void => void clock.timer(1, tick);
  tick();
  await assert.rejects(
    clock.work(() => false, 500),
    /does not happen within 500 ms/,
  );
});
