import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeError, pods } from '../../kube/index.ts';
import type { Agent } from '../agent.ts';
import { newWorld, offered } from '../testing/drive.ts';
import { authorized, owner, type World } from '../testing/world.ts';
import type { Choice, DecideResult } from '../types.ts';

const app = { namespace: 'default', daemonSet: 'app' };
const now: Choice = { choice: 'approve', when: { type: 'now' } };

const targetOf = (agent: Agent): string => agent.updates()[0]?.target.revision ?? '';
const decide = (agent: Agent, choice: Choice, revision = targetOf(agent)): Promise<DecideResult> =>
  agent.decide(app, revision, choice, owner, authorized);
const stateOf = (agent: Agent): string => `${agent.updates()[0]?.state} ${agent.updates()[0]?.reason}`;
const told = (agent: Agent): string[] => agent.history().map(({ what }) => what);
const runs = (world: World): string => world.pod().spec?.containers[0]?.image ?? '';

describe('what an owner decides', () => {
  it('is carried out once, followed until the new pod is ready, and told on the DaemonSet', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    const answer = await decide(agent, now);
    assert.equal(answer.kind, 'accepted');
    assert.equal(answer.status, 202);
    const seen = new Set<string>();
    await world.until('the new version runs', () => {
      seen.add(stateOf(agent));
      return agent.updates()[0]?.state === 'current';
    });
    assert.deepEqual([...seen], ['queued Due', 'updating Stopping', 'updating Starting', 'current UpToDate']);
    assert.equal(world.deletes(), 1);
    assert.deepEqual(told(agent), ['Updated', 'Deleted', 'Deleting', 'approve']);
    assert.deepEqual(
      world.events.map(({ reason, regarding }) => [reason, regarding.kind, regarding.name]),
      [
        ['OwnerDecided', 'DaemonSet', 'app'],
        ['UpdateCarriedOut', 'DaemonSet', 'app'],
      ],
    );
    await world.advance(3_600_000);
    assert.equal(world.deletes(), 1);
  });

  it('shows what is new: images of both versions, when it was published, the deadline', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world, { 'edgeset.io/ota-deadline': '2026-12-24T12:00:00Z' });
    await world.advance(100);
    const [update] = agent.updates();
    assert.deepEqual(update?.running.images, [{ container: 'app', image: 'app:v1' }]);
    assert.deepEqual(update?.target.images, [{ container: 'app', image: 'app:v2' }]);
    assert.equal(update?.target.publishedAt?.slice(0, 10), '2026-11-21');
    assert.equal(update?.deadline?.at, '2026-12-24T12:00:00Z');
    assert.ok((update?.deadline?.actsAt ?? '') < '2026-12-24T13:00:00Z');
    world.patchDaemonSet({ metadata: { annotations: { 'edgeset.io/ota-deadline': null } } });
    await world.advance(100);
    assert.equal(agent.updates()[0]?.deadline, null);
  });

  it('is refused for what nobody can decide', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    const refusals: [Promise<DecideResult>, number, string][] = [
      [agent.decide({ ...app, daemonSet: 'other' }, 'x', now, owner, authorized), 404, 'NoSuchDaemonSet'],
      [decide(agent, now, 'older'), 409, 'OtherRevision'],
      [decide(agent, { choice: 'postpone', until: '2026-11-21T12:00:00Z' }), 422, 'BadDecision'],
      [decide(agent, { choice: 'approve', when: { type: 'safe' } }), 422, 'BadDecision'],
      [agent.decide(app, targetOf(agent), now, owner, () => Promise.resolve('gone')), 403, 'CallerGone'],
    ];
    for (const [answer, status, reason] of refusals)
      assert.partialDeepStrictEqual(await answer, { kind: 'refused', status, reason });
    assert.deepEqual(told(agent), []);
  });

  it('is asked for again when a postponement ends, and never acted on', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    const answer = await decide(agent, { choice: 'postpone', until: '2026-11-21T13:00:00Z' });
    assert.equal(answer.kind === 'accepted' && answer.status, 201);
    assert.equal(stateOf(agent), 'postponed Postponed');
    await world.advance(3_600_000);
    assert.equal(agent.updates()[0]?.state, 'available');
    await world.advance(3_600_000);
    assert.equal(world.deletes(), 0);
  });

  it('waits for its window', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    await decide(agent, { choice: 'approve', when: { type: 'window', from: '22:00', to: '05:00' } });
    await world.advance(60_000);
    assert.equal(stateOf(agent), 'queued OutsideWindow');
    await world.advance(10 * 3_600_000 - 120_000);
    assert.equal(world.deletes(), 0);
    await world.until('the window opens', () => agent.updates()[0]?.state === 'current', 240_000);
    assert.match(agent.history()[0]?.at ?? '', /T22:0/);
  });

  it('waits for a device that is not safe, asks it ever less often, and goes on when it is', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    Object.assign(world.device, { configured: true, safe: false, message: 'the car is moving' });
    await decide(agent, now);
    await world.advance(3_600_000);
    assert.equal(stateOf(agent), 'queued NotSafe');
    assert.match(agent.updates()[0]?.message ?? '', /the car is moving/);
    assert.ok(world.device.asked >= 12 && world.device.asked < 40, `asked ${world.device.asked} times in an hour`);
    assert.equal(world.deletes(), 0);
    world.device.safe = true;
    await world.until('it is carried out', () => agent.updates()[0]?.state === 'current', 360_000);
    assert.equal(world.deletes(), 1);
  });

  it('is superseded by a newer target, and never applied to it', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    const before = targetOf(agent);
    await decide(agent, { choice: 'approve', when: { type: 'window', from: '22:00', to: '05:00' } });
    world.cut(true);
    await world.advance(1_000);
    world.setImage('app:v3');
    await world.advance(12 * 3_600_000);
    assert.equal(targetOf(agent), before, 'what is not known is not told');
    world.cut(false);
    await world.until('the newer one is offered', () => targetOf(agent) !== before, 120_000);
    await world.advance(60_000);
    assert.equal(agent.updates()[0]?.state, 'available');
    assert.equal(world.deletes(), 0);
    assert.ok(told(agent).includes('Superseded'));
    assert.ok(world.events.some(({ reason }) => reason === 'DecisionSuperseded'));
  });

  it('is not ended by a cache that is behind: the pod itself has the last word', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    await decide(agent, { choice: 'approve', when: { type: 'window', from: '22:00', to: '05:00' } });
    const revision = targetOf(agent);
    const again = {
      type: 'PodNeedUpgrade',
      status: 'True',
      reason: 'NewRevision',
      message: `controllerrevision: ${revision}`,
    };
    // Taken back while the agent still looks at the newer one.
    const first = (): void => {
      world.setImage('app:v2');
      const options = { type: 'strategic' as const, subresource: 'status' };
      world.apiServer.patch(pods, world.ref(), { status: { conditions: [again] } }, options);
    };
    world.faults.push({ verb: 'get', plural: 'pods', kind: 'first', first });
    world.setImage('app:v3');
    await world.advance(60_000);
    assert.equal(stateOf(agent), 'queued OutsideWindow');
    assert.equal(targetOf(agent), revision);
    assert.deepEqual(told(agent), ['approve']);
    const reads = world.calls.filter(({ verb, plural }) => verb === 'get' && plural === 'pods').length;
    assert.ok(reads <= 2, `${reads} reads of the pod`);
    await world.advance(10 * 3_600_000);
    assert.equal(world.deletes(), 1);
  });

  it('is not ended by a disk that is older than the decision, when the device comes back', async (t) => {
    const world = await newWorld(t);
    const before = await offered(world);
    const old = targetOf(before);
    await world.advance(5_000);
    await world.written();
    world.setImage('app:v3');
    await world.until('the newer one is there', () => targetOf(before) !== old);
    const revision = targetOf(before);
    await decide(before, { choice: 'approve', when: { type: 'window', from: '22:00', to: '05:00' } });
    world.cut(true);
    const { agent } = await world.start({ killed: true });
    await world.advance(60_000);
    assert.equal(targetOf(agent), old, 'the disk was not written in time');
    world.cut(false);
    await world.until('it is known', () => targetOf(agent) === revision, 120_000);
    await world.advance(60_000);
    assert.equal(stateOf(agent), 'queued OutsideWindow');
    assert.ok(!told(agent).includes('Superseded'));
  });

  it('is not applied to a target that came between the cache and the act', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    const newer = {
      type: 'PodNeedUpgrade',
      status: 'True',
      reason: 'NewRevision',
      message: 'controllerrevision: newer',
    };
    world.faults.push({
      verb: 'get',
      plural: 'pods',
      kind: 'first',
      first: () => {
        const options = { type: 'strategic' as const, subresource: 'status' };
        world.apiServer.patch(pods, world.ref(), { status: { conditions: [newer] } }, options);
      },
    });
    await decide(agent, now);
    await world.advance(10);
    assert.equal(world.deletes(), 0);
    await world.advance(1_000);
    assert.ok(told(agent).includes('Superseded'), told(agent).join());
  });

  it('waits while the rollout is halted', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    await decide(agent, { choice: 'approve', when: { type: 'window', from: '22:00', to: '05:00' } });
    world.halt(true);
    await world.advance(11 * 3_600_000);
    assert.equal(stateOf(agent), 'halted Halted');
    assert.equal(world.deletes(), 0);
    assert.partialDeepStrictEqual(await decide(agent, now), { status: 403, reason: 'Halted' });
    world.halt(false);
    await world.until('it goes on', () => agent.updates()[0]?.state === 'current');
  });

  it('is told as failed when the new pod does not work, until there is a better one', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    world.setImage('app:v3--crash-loop');
    await world.advance(1_000);
    await decide(agent, now);
    await world.until('it fails', () => agent.updates()[0]?.state === 'failed', 120_000);
    assert.equal(agent.updates()[0]?.reason, 'CrashLoop');
    await world.advance(600_000);
    assert.equal(told(agent).filter((what) => what === 'Failed').length, 1);
    world.setImage('app:v4');
    await world.until('a better one is offered', () => agent.updates()[0]?.state === 'available');
    await decide(agent, now);
    await world.until('it works', () => agent.updates()[0]?.state === 'current');
    assert.equal(world.deletes(), 2);
  });

  it('is tried again after refusals, ever less often, with one Event', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    for (let count = 0; count < 5; count += 1) world.faults.push({ verb: 'delete', plural: 'pods', kind: 'refuse' });
    await decide(agent, now);
    await world.until('it is carried out', () => agent.updates()[0]?.state === 'current', 120_000);
    assert.equal(world.deletes(), 6);
    assert.equal(world.events.filter(({ reason }) => reason === 'UpdateRefused').length, 1);
  });

  it('has the images of the new revision pulled where those of an older one were', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    const revision = targetOf(agent);
    const report = (status: string, reason: string, of: string): void => {
      const condition = { type: 'PodImageReady', status, reason, message: `controllerrevision: ${of}` };
      const options = { type: 'strategic' as const, subresource: 'status' };
      world.apiServer.patch(pods, world.ref(), { status: { conditions: [condition] } }, options);
    };
    report('True', 'PullImageSuccess', 'older');
    await world.advance(100);
    await decide(agent, now);
    await world.advance(30_000);
    assert.deepEqual(world.images.requested, [`${world.ref().name}/${revision}`]);
    assert.equal(stateOf(agent), 'queued ImageNotReady');
    report('False', 'PullingImage', revision);
    await world.advance(1_000);
    assert.equal(agent.updates()[0]?.image.state, 'pulling');
    world.cut(true);
    await world.advance(60_000);
    assert.equal(agent.updates()[0]?.state, 'queued');
    world.cut(false);
    report('True', 'PullImageSuccess', revision);
    await world.until('it is carried out', () => agent.updates()[0]?.state === 'current', 120_000);
    assert.equal(world.deletes(), 1);
  });
});

describe('what an owner decides, with a link that fails', () => {
  it('is kept while there is none, and its Events too', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    world.cut(true);
    await world.advance(1_000);
    await decide(agent, now);
    await world.advance(3_600_000);
    assert.equal(stateOf(agent), 'queued Disconnected');
    assert.deepEqual(world.events, []);
    world.cut(false);
    await world.until('it is carried out', () => agent.updates()[0]?.state === 'current', 120_000);
    assert.equal(world.deletes(), 1);
    assert.deepEqual(
      world.events.map(({ reason }) => reason),
      ['OwnerDecided', 'UpdateCarriedOut'],
    );
  });

  it('has its images looked at again when the link is back, for what could not be read before', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    const revision = targetOf(agent);
    const find = async (): Promise<string | undefined> => {
      const [[pod] = [], targetOfPod] = world.images.followed ?? [];
      assert.ok(pod && targetOfPod);
      return (await targetOfPod(pod, revision))?.hash;
    };
    world.cut(true);
    await world.until('the cut is noticed', () => !agent.device().connected);
    assert.equal(await find(), undefined);
    const before = world.images.follows;
    await world.advance(60_000);
    assert.equal(world.images.follows, before, 'nothing has changed');
    world.cut(false);
    await world.until('it is connected', () => agent.device().connected, 120_000);
    assert.equal(world.images.follows, before + 1);
    assert.equal(await find(), revision);
  });

  for (const happened of [true, false])
    it(`is done once when the answer to the delete is lost (${happened ? 'carried out' : 'not carried out'})`, async (t) => {
      const world = await newWorld(t);
      const agent = await offered(world);
      world.faults.push({ verb: 'delete', plural: 'pods', kind: 'hang', happened });
      await decide(agent, now);
      await world.advance(5_000);
      world.cut(true);
      await world.advance(60_000);
      assert.equal(agent.updates()[0]?.state, 'updating');
      assert.equal(world.deletes(), 1);
      world.cut(false);
      await world.until('it is done', () => agent.updates()[0]?.state === 'current', 120_000);
      await world.advance(600_000);
      assert.equal(
        world.deletes(),
        happened ? 1 : 2,
        'a second delete only once the first was certainly not carried out',
      );
      assert.equal(runs(world), 'app:v2');
      assert.equal(told(agent).filter((what) => what === 'Deleted').length, 1);
    });

  it('is not sent twice while the outcome cannot be known', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    const forbidden = new KubeError('Forbidden', 'no status for you', { status: 403 });
    world.faults.push({ verb: 'delete', plural: 'pods', kind: 'lose', happened: false });
    for (let count = 0; count < 40; count += 1)
      world.faults.push({ verb: 'patch', plural: 'pods', kind: 'refuse', error: forbidden });
    await decide(agent, now);
    await world.advance(100_000);
    assert.equal(world.deletes(), 1);
    for (const fault of world.faults) fault.fired = true;
    await world.until('it is done', () => agent.updates()[0]?.state === 'current', 600_000);
    assert.equal(world.deletes(), 2);
  });
});
