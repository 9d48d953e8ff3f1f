import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClockSkew } from '../kube/index.ts';
import { createLogger, createVirtualClock } from '../runtime/index.ts';
import { createClockCheck } from './clock-check.ts';

const HOUR_MS = 3_600_000;

test('a clock that is wrong by hours is logged once, shown as a metric, and logged again when it is right', () => {
  const clock = createVirtualClock(Date.parse('2026-11-22T12:00:00Z'));
  const lines: { level: string; msg: string; aheadSeconds?: number }[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as (typeof lines)[number]);
  const shown: number[] = [];
  const check = createClockCheck(
    'manager',
    createClockSkew(clock),
    createLogger({ write, now: () => clock.now(), level: 'info' }),
    (seconds) => void shown.push(seconds),
  );
  check({ serverTime: clock.now() - 2_000, seconds: 0 });
  check({ seconds: 0 });
  assert.deepEqual([lines, shown], [[], [0, 0]]);
  for (let response = 0; response < 3; response += 1) check({ serverTime: clock.now() + 3 * HOUR_MS, seconds: 0 });
  assert.deepEqual(
    lines.map(({ level, aheadSeconds }) => [level, aheadSeconds]),
    [['error', -10_800]],
  );
  assert.match(lines[0]?.msg ?? '', /set the clock of this machine, then restart the manager/);
  check({ serverTime: clock.now(), seconds: 0 });
  assert.deepEqual(shown.slice(2), [-10_800, -10_800, -10_800, 0]);
  assert.equal(lines.length, 2);
});
