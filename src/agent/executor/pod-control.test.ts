import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pods } from '../../kube/index.ts';
import { imageReadyOf } from '../../rollout/index.ts';
import { openTestbed, openWithUpdate, responseOf, startWithUpdate, upgrade } from '../testing/scenario.ts';
import { authorized, owner } from '../testing/testbed.ts';

describe('if the response to the delete is lost', () => {
  it('determines that it was carried out while the caller still waits', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    testbed.faults.push({ verb: 'delete', plural: 'pods', kind: 'lose', happened: true });
    const { answer } = await upgrade(testbed, agent);
    assert.equal(answer.status, 200);
    assert.equal(testbed.deletes(), 1);
  });

  it('determines that it was not carried out, and fences it', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    const before = testbed.pod().metadata?.resourceVersion;
    testbed.faults.push({ verb: 'delete', plural: 'pods', kind: 'lose', happened: false });
    const { answer } = await upgrade(testbed, agent);
    assert.equal(answer.status, 502);
    assert.match(answer.text, /the request was lost/);
    assert.notEqual(testbed.pod().metadata?.resourceVersion, before);
    assert.equal(testbed.deletes(), 1);
    await testbed.advance(60_000);
    assert.equal(testbed.deletes(), 1, 'what was asked for at once is not done later');
    const again = await upgrade(testbed, agent);
    assert.equal(again.answer.status, 200);
  });

  it('rejects it if it arrives a minute later', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    testbed.faults.push({ verb: 'delete', plural: 'pods', kind: 'late' });
    const { answer } = await upgrade(testbed, agent);
    assert.equal(answer.status, 502);
    assert.equal(agent.history()[0]?.what, 'Refused');
    await testbed.advance(120_000);
    assert.equal(testbed.pod().metadata?.deletionTimestamp, undefined);
    assert.equal(testbed.pod().spec?.containers[0]?.image, 'app:v1');
  });

  for (const happened of [true, false])
    it(`responds 504 after 10 s, and shows the outcome later (${happened ? 'carried out' : 'not carried out'})`, async (t) => {
      const { testbed, agent } = await openWithUpdate(t);
      const { name } = testbed.ref();
      testbed.faults.push({ verb: 'delete', plural: 'pods', kind: 'hang', happened });
      const answer = agent.upgrade(testbed.ref(), owner, { queue: false, reauthorize: authorized });
      await testbed.advance(3_000);
      const second = agent.upgrade({ namespace: 'default', name }, owner, { queue: false, reauthorize: authorized });
      testbed.cut(true);
      const both = await responseOf(testbed, Promise.all([answer, second]));
      assert.equal(both.answer[0].status, 504);
      assert.match(both.answer[0].text, /outcome is unknown/);
      assert.deepEqual(both.answer[0], both.answer[1]);
      assert.ok(both.ms <= 11_000, `${both.ms} ms`);
      assert.ok(agent.history().some(({ what }) => what === 'OutcomeUnknown'));
      assert.equal(agent.updates()[0]?.state, 'updating');
      await testbed.advance(120_000);
      testbed.cut(false);
      const end = happened ? 'Deleted' : 'Refused';
      await testbed.until('it is settled', () => agent.history().some(({ what }) => what === end), 120_000);
      await testbed.advance(120_000);
      assert.equal(testbed.deletes(), 1);
      assert.equal(testbed.pod().spec?.containers[0]?.image, happened ? 'app:v2' : 'app:v1');
      assert.equal(agent.updates()[0]?.state, happened ? 'current' : 'available');
    });
});

describe('with queue=true', () => {
  it('responds 404 for an unknown pod, and refuses what the cache shows as refused', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    testbed.halt(true);
    await testbed.until('halted', () => agent.updates()[0]?.state === 'halted');
    testbed.cut(true);
    await testbed.advance(100);
    assert.equal((await upgrade(testbed, agent, { queue: true })).answer.status, 403);
    const unknown = agent.upgrade({ namespace: 'default', name: 'x' }, owner, { queue: true, reauthorize: authorized });
    assert.equal((await responseOf(testbed, unknown)).answer.status, 404);
  });

  it('also queues if the API server does not respond', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    testbed.faults.push({ verb: 'get', plural: 'pods', kind: 'hang' });
    const { answer, ms } = await upgrade(testbed, agent, { queue: true });
    assert.equal(answer.status, 202);
    assert.ok(ms <= 5_000);
    await testbed.until('it is carried out', () => agent.updates()[0]?.state === 'current', 120_000);
    assert.equal(testbed.deletes(), 1);
  });
});

describe('the YurtHub route imagepull', () => {
  it('requests the images of the target, regardless of PodImageReady', async (t) => {
    const testbed = await openTestbed(t);
    {
      const agent = await startWithUpdate(testbed);
      const revision = agent.updates()[0]?.target.revision;
      const { name } = testbed.ref();
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
      testbed.apiServer.patch(pods, testbed.ref(), body, { type: 'strategic', subresource: 'status' });
      const { answer } = await responseOf(testbed, agent.imagePull(testbed.ref(), owner));
      assert.deepEqual(answer, { status: 200, text: `Image pre-pull requested for pod default/${name}` });
      assert.deepEqual(imageReadyOf(testbed.pod()), { status: 'False', revision, reason: 'PullingImage', message: '' });
      testbed.halt(true);
      await testbed.advance(50);
      assert.equal((await responseOf(testbed, agent.imagePull(testbed.ref(), owner))).answer.status, 403);
      testbed.cut(true);
      assert.equal((await responseOf(testbed, agent.imagePull(testbed.ref(), owner))).answer.status, 503);
    }
  });
});
