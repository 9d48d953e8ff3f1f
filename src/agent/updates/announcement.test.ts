import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Agent } from '../agent.ts';
import { answerOf, newWorld, offered } from '../testing/drive.ts';
import { authorized, owner } from '../testing/world.ts';
import type { Choice, DecideResult } from '../types.ts';

const now: Choice = { choice: 'approve', when: { type: 'now' } };
const tonight: Choice = { choice: 'approve', when: { type: 'window', from: '22:00', to: '05:00' } };

const targetOf = (agent: Agent): string => agent.updates()[0]?.target.revision ?? '';
const stateOf = (agent: Agent): string => `${agent.updates()[0]?.state} ${agent.updates()[0]?.reason}`;
const told = (agent: Agent): string[] => agent.history().map(({ what }) => what);
const decide = (agent: Agent, choice: Choice): Promise<DecideResult> =>
  agent.decide({ namespace: 'default', daemonSet: 'app' }, targetOf(agent), choice, owner, authorized);

describe('a new version that the manager withholds for a while', () => {
  for (const reason of ['Paused', 'Partition', 'NodeSelector', 'NodeNotEligible'] as const)
    it(`keeps what was decided, and carries it out when it is offered again (${reason})`, async (t) => {
      const world = await newWorld(t);
      const agent = await offered(world);
      await decide(agent, tonight);
      world.withhold(reason);
      await world.advance(11 * 3_600_000);
      assert.equal(stateOf(agent), `queued ${reason}`);
      assert.match(agent.updates()[0]?.message ?? '', /The decision is kept/);
      assert.equal(world.deletes(), 0);
      world.withhold(undefined);
      await world.until('it is carried out', () => stateOf(agent) === 'current UpToDate');
      assert.equal(world.deletes(), 1);
      assert.ok(!told(agent).includes('Superseded'));
      assert.ok(world.events.every(({ reason: what }) => what !== 'DecisionSuperseded'));
    });

  it('is not offered: whoever has not decided is not asked, by either API, and no deadline acts', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world, { 'edgeset.io/ota-deadline': '2026-11-21T12:30:00Z' });
    world.withhold('Paused');
    await world.until('it is withheld', () => stateOf(agent) === 'current Paused');
    assert.match(agent.updates()[0]?.message ?? '', /not offered to this device for now/);
    assert.equal(agent.updates()[0]?.deadline, null);
    assert.partialDeepStrictEqual(await decide(agent, now), { status: 409, reason: 'NotOffered' });
    for (const queue of [false, true]) {
      const { answer } = await answerOf(world, agent.upgrade(world.ref(), owner, { queue, reauthorize: authorized }));
      assert.equal(answer.status, 403);
      assert.match(answer.text, /update status is False, can not be updated: Paused$/);
    }
    await world.advance(4 * 3_600_000);
    assert.equal(world.deletes(), 0);
    assert.deepEqual(told(agent), []);
  });

  it('may be decided on otherwise by whoever has decided', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    await decide(agent, tonight);
    world.withhold('Partition');
    await world.until('it is withheld', () => stateOf(agent) === 'queued Partition');
    assert.partialDeepStrictEqual(await decide(agent, { choice: 'reject' }), { status: 201 });
    assert.equal(stateOf(agent), 'rejected Rejected');
    await decide(agent, { choice: 'postpone', until: '2026-11-21T13:00:00Z' });
    assert.equal(stateOf(agent), 'postponed Postponed');
    await world.advance(2 * 3_600_000);
    assert.equal(stateOf(agent), 'current Partition');
    world.withhold(undefined);
    await world.until('the owner is asked again', () => stateOf(agent) === 'available NewRevision');
    assert.equal(world.deletes(), 0);
  });

  it('keeps what the compatible route queued while offline', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    world.cut(true);
    await world.advance(1_000);
    const answer = await agent.upgrade(world.ref(), owner, { queue: true, reauthorize: authorized });
    assert.equal(answer.status, 202);
    world.withhold('Paused');
    await world.advance(1_000);
    world.cut(false);
    await world.until('it is withheld', () => stateOf(agent) === 'queued Paused', 120_000);
    await world.advance(3_600_000);
    assert.equal(world.deletes(), 0);
    world.withhold(undefined);
    await world.until('it is carried out', () => stateOf(agent) === 'current UpToDate');
    assert.equal(world.deletes(), 1);
  });

  it('ends what was decided when the template is taken back meanwhile', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    await decide(agent, tonight);
    world.withhold('Paused');
    await world.until('it is withheld', () => stateOf(agent) === 'queued Paused');
    world.setImage('app:v1');
    await world.until('it is current', () => stateOf(agent) === 'current UpToDate');
    await world.advance(100);
    assert.ok(told(agent).includes('Superseded'));
    assert.equal(world.deletes(), 0);
  });
});
