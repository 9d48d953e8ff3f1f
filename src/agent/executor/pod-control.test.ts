import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pods } from '../../kube/index.ts';
import type { Agent } from '../agent.ts';
import { answerOf, newWorld, offered } from '../testing/drive.ts';
import { authorized, owner, type World } from '../testing/world.ts';

const post = (world: World, agent: Agent, options: { queue?: boolean } = {}) =>
  answerOf(world, agent.upgrade(world.ref(), owner, { queue: options.queue ?? false, reauthorize: authorized }));

describe('when the answer to the delete is lost', () => {
  it('finds out that it was carried out while the caller still waits', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    world.faults.push({ verb: 'delete', plural: 'pods', kind: 'lose', happened: true });
    const { answer } = await post(world, agent);
    assert.equal(answer.status, 200);
    assert.equal(world.deletes(), 1);
  });

  it('finds out that it was not, and makes sure that it never will be', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    const before = world.pod().metadata?.resourceVersion;
    world.faults.push({ verb: 'delete', plural: 'pods', kind: 'lose', happened: false });
    const { answer } = await post(world, agent);
    assert.equal(answer.status, 502);
    assert.match(answer.text, /the request was lost/);
    assert.notEqual(world.pod().metadata?.resourceVersion, before);
    assert.equal(world.deletes(), 1);
    await world.advance(60_000);
    assert.equal(world.deletes(), 1, 'what was asked for at once is not done later');
    const again = await post(world, agent);
    assert.equal(again.answer.status, 200);
  });

  it('has called it off when it arrives a minute later', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    world.faults.push({ verb: 'delete', plural: 'pods', kind: 'late' });
    const { answer } = await post(world, agent);
    assert.equal(answer.status, 502);
    assert.equal(agent.history()[0]?.what, 'Refused');
    await world.advance(120_000);
    assert.equal(world.pod().metadata?.deletionTimestamp, undefined);
    assert.equal(world.pod().spec?.containers[0]?.image, 'app:v1');
  });

  for (const happened of [true, false])
    it(`answers 504 after 10 s of silence and tells the outcome later (${happened ? 'carried out' : 'not carried out'})`, async (t) => {
      const world = await newWorld(t);
      const agent = await offered(world);
      const { name } = world.ref();
      world.faults.push({ verb: 'delete', plural: 'pods', kind: 'hang', happened });
      const answer = agent.upgrade(world.ref(), owner, { queue: false, reauthorize: authorized });
      await world.advance(3_000);
      const second = agent.upgrade({ namespace: 'default', name }, owner, { queue: false, reauthorize: authorized });
      world.cut(true);
      const both = await answerOf(world, Promise.all([answer, second]));
      assert.equal(both.answer[0].status, 504);
      assert.match(both.answer[0].text, /outcome is unknown/);
      assert.deepEqual(both.answer[0], both.answer[1]);
      assert.ok(both.ms <= 11_000, `${both.ms} ms`);
      assert.ok(agent.history().some(({ what }) => what === 'OutcomeUnknown'));
      assert.equal(agent.updates()[0]?.state, 'updating');
      await world.advance(120_000);
      world.cut(false);
      const end = happened ? 'Deleted' : 'Refused';
      await world.until('it is settled', () => agent.history().some(({ what }) => what === end), 120_000);
      await world.advance(120_000);
      assert.equal(world.deletes(), 1);
      assert.equal(world.pod().spec?.containers[0]?.image, happened ? 'app:v2' : 'app:v1');
      assert.equal(agent.updates()[0]?.state, happened ? 'current' : 'available');
    });
});

describe('with queue=true', () => {
  it('keeps the decision for the target that is known, and carries it out once connected', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    const { name } = world.ref();
    world.cut(true);
    await world.advance(100);
    const { answer } = await post(world, agent, { queue: true });
    assert.deepEqual(answer, { status: 202, text: `Queued updating pod default/${name}` });
    assert.deepEqual((await post(world, agent, { queue: true })).answer, answer);
    assert.equal(world.records.decisions.length, 1, 'a replay does nothing');
    assert.equal(agent.updates()[0]?.state, 'queued');
    await world.advance(3_600_000);
    assert.equal(world.deletes(), 0);
    world.cut(false);
    await world.until('it is carried out', () => agent.updates()[0]?.state === 'current', 120_000);
    assert.equal(world.deletes(), 1);
  });

  it('answers 404 for a pod that it never saw, and refuses what it knows to be refused', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    world.halt(true);
    await world.until('halted', () => agent.updates()[0]?.state === 'halted');
    world.cut(true);
    await world.advance(100);
    assert.equal((await post(world, agent, { queue: true })).answer.status, 403);
    const unknown = agent.upgrade({ namespace: 'default', name: 'x' }, owner, { queue: true, reauthorize: authorized });
    assert.equal((await answerOf(world, unknown)).answer.status, 404);
  });

  it('is queued too when the link turns out to be silent', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    world.faults.push({ verb: 'get', plural: 'pods', kind: 'hang' });
    const { answer, ms } = await post(world, agent, { queue: true });
    assert.equal(answer.status, 202);
    assert.ok(ms <= 5_000);
    await world.until('it is carried out', () => agent.updates()[0]?.state === 'current', 120_000);
    assert.equal(world.deletes(), 1);
  });
});

describe('imagepull, the compatible route', () => {
  it('asks for the images of the target, whatever stands in PodImageReady', async (t) => {
    const world = await newWorld(t);
    {
      const agent = await offered(world);
      const revision = agent.updates()[0]?.target.revision;
      const { name } = world.ref();
      const body = {
        status: {
          conditions: [
            {
              type: 'PodImageReady',
              status: 'False',
              reason: 'PullImageFail',
              message: `controllerrevision: ${revision}`,
            },
          ],
        },
      };
      world.apiServer.patch(pods, world.ref(), body, { type: 'strategic', subresource: 'status' });
      const { answer } = await answerOf(world, agent.imagePull(world.ref(), owner));
      assert.deepEqual(answer, { status: 200, text: `Image pre-pull requested for pod default/${name}` });
      assert.deepEqual(world.images.requested, [`${name}/${revision}`]);
      world.halt(true);
      await world.advance(50);
      assert.equal((await answerOf(world, agent.imagePull(world.ref(), owner))).answer.status, 403);
      world.cut(true);
      assert.equal((await answerOf(world, agent.imagePull(world.ref(), owner))).answer.status, 503);
    }
  });
});
