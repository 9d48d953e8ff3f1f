import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import type { Agent } from '../agent.ts';
import { newWorld, offered } from '../testing/drive.ts';
import { authorized, owner } from '../testing/world.ts';
import type { Choice, DecideResult } from '../types.ts';
import { createClockSkew } from './deadline.ts';

const app = { namespace: 'default', daemonSet: 'app' };

const targetOf = (agent: Agent): string => agent.updates()[0]?.target.revision ?? '';
const decide = (agent: Agent, choice: Choice, revision = targetOf(agent)): Promise<DecideResult> =>
  agent.decide(app, revision, choice, owner, authorized);
const stateOf = (agent: Agent): string => `${agent.updates()[0]?.state} ${agent.updates()[0]?.reason}`;
const told = (agent: Agent): string[] => agent.history().map(({ what }) => what);

describe('a deadline of the administrator', () => {
  it('gives way to the deadline, which the agent acts on after it asked the device', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world, {
      'edgeset.io/ota-deadline': '2026-11-21T14:00:00Z',
      'edgeset.io/ota-deadline-spread': '30m',
    });
    Object.assign(world.device, { configured: true, safe: false, message: 'the car is moving' });
    await decide(agent, { choice: 'postpone', until: '2026-12-24T12:00:00Z' });
    await world.advance(2 * 3_600_000 - 60_000);
    assert.equal(stateOf(agent), 'postponed Postponed');
    assert.equal(world.device.asked, 0);
    await world.advance(1_900_000);
    assert.equal(stateOf(agent), 'queued NotSafe');
    assert.equal(world.deletes(), 0);
    world.device.safe = true;
    await world.until('it is carried out', () => agent.updates()[0]?.state === 'current', 360_000);
    assert.equal(agent.history().find(({ what }) => what === 'Deleted')?.who, 'agent');
  });

  it('gives way to no deadline that was taken back while nothing waited', async (t) => {
    const world = await newWorld(t);
    const past = { 'edgeset.io/ota-deadline': '2026-11-21T11:00:00Z', 'edgeset.io/ota-deadline-spread': '1s' };
    world.deploy(past);
    const { agent } = await world.start();
    await world.until('the pod runs', () => agent.updates()[0]?.running.ready === true);
    world.setImage('app:v2');
    await world.until('the deadline acts', () => world.deletes() === 1);
    await world.until('the new pod runs', () => stateOf(agent) === 'current UpToDate');
    world.patchDaemonSet({ metadata: { annotations: { 'edgeset.io/ota-deadline': null } } });
    world.setImage('app:v3');
    await world.until('the update is there', () => stateOf(agent) === 'available NewRevision');
    await world.advance(3_600_000);
    assert.equal(world.deletes(), 1);
    assert.equal(stateOf(agent), 'available NewRevision');
  });

  for (const [words, hours] of [
    ['ahead', 3],
    ['behind', -3],
  ] as const)
    it(`gives way to the deadline by the API server's clock, where the device's own is ${words}`, async (t) => {
      const world = await newWorld(t);
      const at = (time: number): string => new Date(world.clock.now() + time * 3_600_000).toISOString();
      const agent = await offered(world, { 'edgeset.io/ota-deadline': at(5), 'edgeset.io/ota-deadline-spread': '1s' });
      world.device.aheadMs = hours * 3_600_000;
      world.patchDaemonSet({ metadata: { annotations: { 'edgeset.io/ota-deadline': at(1 - hours) } } });
      await world.advance(3_600_000 - 60_000);
      assert.equal(stateOf(agent), 'available NewRevision');
      assert.equal(world.deletes(), 0);
      await world.advance(120_000);
      assert.equal(world.deletes(), 1);
      assert.equal(agent.history().find(({ what }) => what === 'Deleted')?.who, 'agent');
    });

  it('gives way to no deadline of a clock that turns out to be wrong when the API server answers', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world, { 'edgeset.io/ota-deadline': '2026-11-21T13:00:00Z' });
    const first = (): void => {
      world.device.aheadMs = 4 * 3_600_000;
    };
    world.faults.push({ verb: 'get', plural: 'pods', kind: 'first', first });
    await world.advance(2 * 3_600_000);
    assert.equal(world.deletes(), 0);
    assert.deepEqual(told(agent), []);
    assert.equal(agent.updates()[0]?.state, 'available');
  });
});

test('the difference to the API server is what its last answer told, where that is more than usual', () => {
  let now = 1_000_000_000;
  const time = createClockSkew({ now: () => now });
  assert.equal(time.aheadMs(), 0);
  time.observe({ serverTime: now - 59_000 });
  assert.equal(time.aheadMs(), 0);
  time.observe({ serverTime: now - 3_600_000 });
  assert.equal(time.aheadMs(), 3_600_000);
  time.observe({});
  assert.equal(time.aheadMs(), 3_600_000);
  now += 10_000;
  time.observe({ serverTime: now + 3_600_000 });
  assert.equal(time.aheadMs(), -3_600_000);
});
