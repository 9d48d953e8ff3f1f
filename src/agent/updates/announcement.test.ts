import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { approveNow, decide, historyOf, openWithUpdate, responseOf, stateOf } from '../testing/scenario.ts';
import { authorized, owner } from '../testing/testbed.ts';
import type { Choice } from '../types.ts';

const tonight: Choice = { choice: 'approve', when: { type: 'window', from: '22:00', to: '05:00' } };

describe('a new version that the manager withholds', () => {
  for (const reason of ['Paused', 'Partition', 'NodeSelector', 'NodeNotEligible'] as const)
    it(`keeps the decision, and carries it out when the version is offered again (${reason})`, async (t) => {
      const { testbed, agent } = await openWithUpdate(t);
      await decide(agent, tonight);
      testbed.withhold(reason);
      await testbed.advance(11 * 3_600_000);
      assert.equal(stateOf(agent), `queued ${reason}`);
      assert.match(agent.updates()[0]?.message ?? '', /The decision is kept/);
      assert.equal(testbed.deletes(), 0);
      testbed.withhold(undefined);
      await testbed.until('it is carried out', () => stateOf(agent) === 'current UpToDate');
      assert.equal(testbed.deletes(), 1);
      assert.ok(!historyOf(agent).includes('Superseded'));
      assert.ok(testbed.events.every(({ reason: what }) => what !== 'DecisionSuperseded'));
    });

  it('is not offered without an earlier decision, by either API, and not updated by a deadline', async (t) => {
    const { testbed, agent } = await openWithUpdate(t, { 'edgeset.io/ota-deadline': '2026-11-21T12:30:00Z' });
    testbed.withhold('Paused');
    await testbed.until('it is withheld', () => stateOf(agent) === 'current Paused');
    assert.match(agent.updates()[0]?.message ?? '', /not offered to this device for now/);
    assert.equal(agent.updates()[0]?.deadline, null);
    assert.partialDeepStrictEqual(await decide(agent, approveNow), { status: 409, reason: 'NotOffered' });
    for (const queue of [false, true]) {
      const { answer } = await responseOf(
        testbed,
        agent.upgrade(testbed.ref(), owner, { queue, reauthorize: authorized }),
      );
      assert.equal(answer.status, 403);
      assert.match(answer.text, /update status is False, can not be updated: Paused$/);
    }
    await testbed.advance(4 * 3_600_000);
    assert.equal(testbed.deletes(), 0);
    assert.deepEqual(historyOf(agent), []);
  });

  it('allows an owner who has decided to change the decision', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    await decide(agent, tonight);
    testbed.withhold('Partition');
    await testbed.until('it is withheld', () => stateOf(agent) === 'queued Partition');
    assert.partialDeepStrictEqual(await decide(agent, { choice: 'reject' }), { status: 201 });
    assert.equal(stateOf(agent), 'rejected Rejected');
    await decide(agent, { choice: 'postpone', until: '2026-11-21T13:00:00Z' });
    assert.equal(stateOf(agent), 'postponed Postponed');
    await testbed.advance(2 * 3_600_000);
    assert.equal(stateOf(agent), 'current Partition');
    testbed.withhold(undefined);
    await testbed.until('the owner is asked again', () => stateOf(agent) === 'available NewRevision');
    assert.equal(testbed.deletes(), 0);
  });

  it('keeps what a YurtHub request queued while offline', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    testbed.cut(true);
    await testbed.advance(1_000);
    const answer = await agent.upgrade(testbed.ref(), owner, { queue: true, reauthorize: authorized });
    assert.equal(answer.status, 202);
    testbed.withhold('Paused');
    await testbed.advance(1_000);
    testbed.cut(false);
    await testbed.until('it is withheld', () => stateOf(agent) === 'queued Paused', 120_000);
    await testbed.advance(3_600_000);
    assert.equal(testbed.deletes(), 0);
    testbed.withhold(undefined);
    await testbed.until('it is carried out', () => stateOf(agent) === 'current UpToDate');
    assert.equal(testbed.deletes(), 1);
  });

  it('supersedes the decision if the template is reverted meanwhile', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    await decide(agent, tonight);
    testbed.withhold('Paused');
    await testbed.until('it is withheld', () => stateOf(agent) === 'queued Paused');
    testbed.setImage('app:v1');
    await testbed.until('it is current', () => stateOf(agent) === 'current UpToDate');
    await testbed.advance(100);
    assert.ok(historyOf(agent).includes('Superseded'));
    assert.equal(testbed.deletes(), 0);
  });
});
