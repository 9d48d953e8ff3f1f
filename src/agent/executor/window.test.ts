import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide, openWithUpdate, stateOf } from '../testing/scenario.ts';
import type { Choice } from '../types.ts';

describe("a window by the device's clock", () => {
  const between = (from: string, to: string): Choice => ({
    choice: 'approve',
    when: { type: 'window', from, to },
  });

  it('opens on the minute, also past midnight', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    // It is noon, and a few seconds.
    testbed.setClock(11.5 * 3_600_000);
    await decide(agent, between('23:58', '00:05'));
    const opensAt = Date.parse('2026-11-21T23:58:00Z');
    await testbed.until('it is about to open', () => testbed.env.clock.now() >= opensAt - 1_000, 3_600_000);
    assert.equal(stateOf(agent), 'queued OutsideWindow');
    assert.match(agent.updates()[0]?.message ?? '', /between 23:58 and 00:05/);
    assert.equal(testbed.deletes(), 0);
    await testbed.until('it is updated', () => testbed.deletes() === 1);
    const late = testbed.env.clock.now() - opensAt;
    assert.ok(late >= 0 && late < 1_000, `${late} ms`);
  });

  it('opens for a clock that is set forward, although no timer follows it', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    await decide(agent, between('02:00', '05:00'));
    await testbed.advance(120_000);
    testbed.setClock(14 * 3_600_000);
    await testbed.until('it is updated', () => testbed.deletes() === 1, 60_000);
  });

  it('does not open for a clock that is set back', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    await decide(agent, between('12:10', '12:20'));
    await testbed.advance(540_000);
    testbed.setClock(-3 * 3_600_000);
    await testbed.advance(3_600_000);
    assert.equal(testbed.deletes(), 0);
    assert.equal(stateOf(agent), 'queued OutsideWindow');
    await testbed.until('it is updated', () => testbed.deletes() === 1, 3 * 3_600_000);
    assert.equal(new Date(testbed.env.clock.now()).toISOString().slice(11, 16), '12:10');
  });
});
