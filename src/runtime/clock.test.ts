import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sleep, steadyClock, systemClock } from './index.ts';

it("the steady clock shows the time, and is unaffected when the machine's clock is set", (context) => {
  assert.ok(Math.abs(steadyClock.now() - systemClock.now()) < 5000);
  const set = Date.now() + 3_600_000;
  context.mock.method(Date, 'now', () => set);
  assert.equal(systemClock.now(), set);
  assert.ok(set - steadyClock.now() > 3_500_000);
});

it('a timer never fires early, whatever the fractions of its delay', async () => {
  for (let delayMs = 1.9; delayMs < 4; delayMs += 0.03) {
    const [steady, system] = [steadyClock.now(), systemClock.now()];
    await sleep(systemClock, delayMs);
    // The sum of the steady clock rounds by less than a microsecond.
    assert.ok(steadyClock.now() - steady >= delayMs - 0.001);
    assert.ok(systemClock.now() - system >= delayMs);
  }
});
