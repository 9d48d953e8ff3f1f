import assert from 'node:assert/strict';
import { it } from 'node:test';
import { steadyClock, systemClock } from './index.ts';

it("the steady clock shows the time, and is unaffected when the machine's clock is set", (context) => {
  assert.ok(Math.abs(steadyClock.now() - systemClock.now()) < 5000);
  const set = Date.now() + 3_600_000;
  context.mock.method(Date, 'now', () => set);
  assert.equal(systemClock.now(), set);
  assert.ok(set - steadyClock.now() > 3_500_000);
});
