import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide, historyOf, openTestbed, openWithUpdate, startWithUpdate, stateOf } from '../testing/scenario.ts';

describe("the administrator's deadline", () => {
  it('ends a postponement, after the safety check passes', async (t) => {
    const { testbed, agent } = await openWithUpdate(t, {
      'edgeset.io/ota-deadline': '2026-11-21T14:00:00Z',
      'edgeset.io/ota-deadline-spread': '30m',
    });
    Object.assign(testbed.device, { configured: true, safe: false, message: 'the car is moving' });
    await decide(agent, { choice: 'postpone', until: '2026-12-24T12:00:00Z' });
    await testbed.advance(2 * 3_600_000 - 60_000);
    assert.equal(stateOf(agent), 'postponed Postponed');
    assert.equal(testbed.device.asked, 0);
    await testbed.advance(1_900_000);
    assert.equal(stateOf(agent), 'queued NotSafe');
    assert.equal(testbed.deletes(), 0);
    testbed.device.safe = true;
    await testbed.until('it is carried out', () => agent.updates()[0]?.state === 'current', 360_000);
    assert.equal(agent.history().find(({ what }) => what === 'Deleted')?.who, 'agent');
  });

  for (const [words, hours] of [
    ['ahead', 3],
    ['behind', -3],
  ] as const)
    it(`is due by the API server's clock if the device's clock is ${words}`, async (t) => {
      const testbed = await openTestbed(t);
      const at = (time: number): string => new Date(testbed.clock.now() + time * 3_600_000).toISOString();
      const agent = await startWithUpdate(testbed, {
        'edgeset.io/ota-deadline': at(5),
        'edgeset.io/ota-deadline-spread': '1s',
      });
      testbed.device.aheadMs = hours * 3_600_000;
      testbed.patchDaemonSet({ metadata: { annotations: { 'edgeset.io/ota-deadline': at(1 - hours) } } });
      await testbed.advance(3_600_000 - 60_000);
      assert.equal(stateOf(agent), 'available NewRevision');
      assert.equal(testbed.deletes(), 0);
      await testbed.advance(120_000);
      assert.equal(testbed.deletes(), 1);
      assert.equal(agent.history().find(({ what }) => what === 'Deleted')?.who, 'agent');
    });

  it("is not due if the API server's response shows that the device's clock is wrong", async (t) => {
    const { testbed, agent } = await openWithUpdate(t, { 'edgeset.io/ota-deadline': '2026-11-21T13:00:00Z' });
    const first = (): void => {
      testbed.device.aheadMs = 4 * 3_600_000;
    };
    testbed.faults.push({ verb: 'get', plural: 'pods', kind: 'first', first });
    await testbed.advance(2 * 3_600_000);
    assert.equal(testbed.deletes(), 0);
    assert.deepEqual(historyOf(agent), []);
    assert.equal(agent.updates()[0]?.state, 'available');
  });
});
