import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { daemonSets, pods } from '../../kube/index.ts';
import type { Agent } from '../agent.ts';
import { openWithUpdate, responseOf, upgrade } from '../testing/scenario.ts';
import { authorized, owner, type Testbed } from '../testing/testbed.ts';

describe('the YurtHub route upgrade', () => {
  const patchPod = (testbed: Testbed, body: object, subresource?: string): void => {
    const options = { type: 'strategic' as const, ...(subresource && { subresource }) };
    testbed.apiServer.patch(pods, testbed.ref(), body, options);
  };
  const condition = (type: string, status: string, reason: string, message: string): object => ({
    status: { conditions: [{ type, status, reason, message }] },
  });
  const target = (testbed: Testbed, agent: Agent): string =>
    agent.updates()[0]?.target.revision ?? `none in ${testbed.ref().name}`;

  const refusals: [string, number, RegExp, (testbed: Testbed, agent: Agent) => void | Promise<void>][] = [
    [
      'a pod that is being deleted',
      403,
      /^Pod default\/\S+ is deleting, can not be updated$/,
      (testbed) => {
        testbed.apiServer.delete(pods, testbed.ref());
      },
    ],
    [
      'a pod that needs no update, though the cache still says so',
      403,
      /update status is False, can not be updated$/,
      (testbed) => {
        testbed.cut(true);
        testbed.cut(false);
        patchPod(testbed, condition('PodNeedUpgrade', 'False', 'UpToDate', 'controllerrevision: abc'), 'status');
      },
    ],
    [
      'images that are on their way',
      403,
      /image is not ready, reason: PullingImage$/,
      (testbed, agent) =>
        patchPod(
          testbed,
          condition('PodImageReady', 'False', 'PullingImage', `controllerrevision: ${target(testbed, agent)}`),
          'status',
        ),
    ],
    [
      'images of another revision',
      403,
      /image is not ready, reason: PullImageSuccess, for revision older$/,
      (testbed) =>
        patchPod(
          testbed,
          condition('PodImageReady', 'True', 'PullImageSuccess', 'controllerrevision: older'),
          'status',
        ),
    ],
    [
      'a DaemonSet that left the OTA mode',
      403,
      /is no longer in OTA mode$/,
      (testbed) => {
        testbed.apiServer.patch(
          daemonSets,
          { namespace: 'default', name: 'app' },
          { metadata: { annotations: { 'apps.openyurt.io/update-strategy': 'auto' } } },
          { type: 'merge' },
        );
      },
    ],
    [
      'a revision that the breaker stopped',
      403,
      /the rollout of \S+ is halted$/,
      async (testbed) => {
        testbed.halt(true);
        await testbed.advance(50);
      },
    ],
    [
      'a device that is not safe',
      403,
      /can not be updated now: the car is moving$/,
      (testbed) => {
        Object.assign(testbed.device, { configured: true, safe: false, message: 'the car is moving' });
      },
    ],
  ];
  for (const [what, status, text, prepare] of refusals)
    it(`is refused for ${what}`, async (t) => {
      const { testbed, agent } = await openWithUpdate(t);
      await prepare(testbed, agent);
      const { answer } = await upgrade(testbed, agent);
      assert.match(answer.text, text);
      assert.equal(answer.status, status);
      assert.equal(testbed.deletes(), 0);
      assert.deepEqual(agent.history(), [], 'what was refused before it was decided leaves no trace');
    });

  it('refuses pods without a DaemonSet, with the reason', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    // It would delete the pods, because their owners don't exist.
    testbed.cluster.controllers.garbageCollector.pause();
    const make = (name: string, nodeName: string, ownerReferences?: object[]): void => {
      testbed.apiServer.create<object>(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace: 'default', ...(ownerReferences && { ownerReferences }) },
        spec: { nodeName, containers: [{ name: 'app', image: 'app:v1' }] },
      });
      const body = condition('PodNeedUpgrade', 'True', 'NewRevision', 'controllerrevision: abc');
      testbed.apiServer.patch(pods, { namespace: 'default', name }, body, { type: 'strategic', subresource: 'status' });
    };
    const owned = (kind: string, apiVersion: string): object[] => [
      { kind, apiVersion, name: 'x', uid: 'u', controller: true },
    ];
    make('alone', 'node-1');
    make('replica', 'node-1', owned('ReplicaSet', 'apps/v1'));
    make('foreign', 'node-1', owned('DaemonSet', 'example.com/v1'));
    make('elsewhere', 'node-2');
    const expected: [string, number, string][] = [
      ['alone', 400, 'Pod has no owner references'],
      ['replica', 400, 'Not support ota upgrade pod type ReplicaSet'],
      ['foreign', 400, 'Not support ota upgrade pod type DaemonSet of example.com/v1'],
      ['elsewhere', 403, 'Pod default/elsewhere is running on node-2, can not be updated'],
      ['nobody', 404, 'Pod default/nobody is not found'],
    ];
    for (const [name, status, text] of expected) {
      const answer = agent.upgrade({ namespace: 'default', name }, owner, { queue: false, reauthorize: authorized });
      assert.deepEqual((await responseOf(testbed, answer)).answer, { status, text });
    }
    assert.equal(testbed.deletes(), 0);
  });

  it('is refused if the caller is gone before the write', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    let asked = 0;
    const leaves = () => Promise.resolve((asked += 1) > 1 ? 'the caller has gone' : undefined);
    const { answer } = await responseOf(
      testbed,
      agent.upgrade(testbed.ref(), owner, { queue: false, reauthorize: leaves }),
    );
    assert.deepEqual(answer, { status: 403, text: 'the caller has gone' });
    assert.equal(testbed.deletes(), 0);
    await testbed.advance(60_000);
    assert.equal(testbed.deletes(), 0, 'what was asked for at once is not done later');
  });

  it('responds 503 at once while offline, and within 5 s if the API server is silent', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    testbed.cut(true);
    const text = 'OTA upgrade is not allowed when node is disconnected to cloud';
    const first = await upgrade(testbed, agent);
    assert.deepEqual(first.answer, { status: 503, text });
    testbed.cut(false);
    await testbed.until('connected', () => agent.device().connected);
    testbed.faults.push({ verb: 'get', plural: 'pods', kind: 'hang' });
    const second = await upgrade(testbed, agent);
    assert.deepEqual(second.answer, { status: 503, text });
    assert.ok(second.ms <= 5_000, `${second.ms} ms`);
    testbed.faults.push({ verb: 'get', plural: 'daemonsets', kind: 'hang' });
    const third = await upgrade(testbed, agent);
    assert.deepEqual(third.answer, { status: 503, text });
    assert.ok(third.ms <= 5_000, `${third.ms} ms`);
    await testbed.advance(120_000);
    assert.equal(testbed.deletes(), 0, 'nothing was sent, now or later');
  });

  for (const queue of [false, true])
    it(`does not replace a decision made while it waited for the network${queue ? ', and stops waiting' : ''}`, async (t) => {
      const { testbed, agent } = await openWithUpdate(t);
      const revision = target(testbed, agent);
      const at = { namespace: 'default', daemonSet: 'app' };
      const reject = (): void =>
        void agent.decide(at, revision, { choice: 'reject' }, owner, authorized).catch(assert.fail);
      // A dead link that the watch has not noticed; and a slow read.
      if (queue) testbed.faults.push({ verb: 'get', plural: 'pods', kind: 'hang' });
      else testbed.faults.push({ verb: 'get', plural: 'daemonsets', kind: 'first', first: reject });
      const pressed = agent.upgrade(testbed.ref(), owner, { queue, reauthorize: authorized });
      await testbed.advance(1_000);
      if (queue) reject();
      const { answer } = await responseOf(testbed, pressed);
      assert.equal(answer.status, 403);
      assert.match(answer.text, /its owner has made another decision meanwhile$/);
      await testbed.advance(120_000);
      assert.equal(testbed.deletes(), 0);
      assert.equal(agent.updates()[0]?.state, 'rejected');
      // A request after that replaces it.
      assert.equal((await upgrade(testbed, agent, { queue })).answer.status, 200);
    });

  it('is refused while the template differs from the announced revision', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    const revision = target(testbed, agent);
    testbed.cluster.controllers.daemonSets.pause();
    testbed.setImage('app:v3');
    const { answer } = await upgrade(testbed, agent);
    assert.equal(answer.status, 403);
    assert.match(answer.text, new RegExp(`has changed since ${revision} was announced$`));
    const at = { namespace: 'default', daemonSet: 'app' };
    await agent.decide(at, revision, { choice: 'approve', when: { type: 'now' } }, owner, authorized);
    await testbed.advance(60_000);
    assert.equal(testbed.deletes(), 0);
    assert.equal(agent.updates()[0]?.reason, 'Superseded');

    testbed.cluster.controllers.daemonSets.resume();
    await testbed.until('the newest is offered', () => agent.updates()[0]?.state === 'available');
    assert.equal((await upgrade(testbed, agent)).answer.status, 200);
    await testbed.until('it runs', () => testbed.pods()[0]?.spec?.containers[0]?.image === 'app:v3');
    assert.equal(testbed.deletes(), 1);
  });

  it('responds 502 with the reason if the API server refuses', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    testbed.faults.push({ verb: 'delete', plural: 'pods', kind: 'refuse' });
    const { answer } = await upgrade(testbed, agent);
    assert.equal(answer.status, 502);
    assert.match(answer.text, /a policy refuses it/);
    assert.match(agent.history()[0]?.result ?? '', /a policy refuses it/);
    await testbed.advance(60_000);
    assert.equal(testbed.deletes(), 1);
  });

  it('sends one delete for 50 concurrent callers, with the same response for all', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    const { name } = testbed.ref();
    const all = Array.from({ length: 50 }, () =>
      agent.upgrade({ namespace: 'default', name }, owner, { queue: false, reauthorize: authorized }),
    );
    const { answer } = await responseOf(testbed, Promise.all(all));
    assert.deepEqual(new Set(answer.map(({ text }) => text)), new Set([`Start updating pod default/${name}`]));
    assert.equal(testbed.deletes(), 1);
    const after = await responseOf(
      testbed,
      agent.upgrade({ namespace: 'default', name }, owner, { queue: false, reauthorize: authorized }),
    );
    assert.equal(after.answer.status, 403);
    assert.match(after.answer.text, /is deleting/);
    assert.equal(testbed.deletes(), 1);
  });

  it('checks a pod again that changed between the read and the delete', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    const touch = (): void => patchPod(testbed, { metadata: { labels: { touched: String(testbed.calls.length) } } });
    testbed.faults.push({ verb: 'delete', plural: 'pods', kind: 'first', first: touch });
    const { answer } = await upgrade(testbed, agent);
    assert.equal(answer.status, 200);
    assert.equal(testbed.deletes(), 2, 'the first one met another version and did nothing');
  });

  it('does not delete a pod whose update was withdrawn between the read and the delete', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    const revert = (): void =>
      patchPod(testbed, condition('PodNeedUpgrade', 'False', 'UpToDate', 'controllerrevision: abc'), 'status');
    testbed.faults.push({ verb: 'delete', plural: 'pods', kind: 'first', first: revert });
    const { answer } = await upgrade(testbed, agent);
    assert.equal(answer.status, 403);
    assert.match(answer.text, /update status is False/);
    assert.equal(testbed.pod().metadata?.deletionTimestamp, undefined);
    assert.equal(testbed.deletes(), 1);
  });

  it('does not delete another pod with the same name', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    const { name } = testbed.ref();
    testbed.cluster.controllers.daemonSets.pause();
    const replace = (): void => {
      const old = testbed.apiServer.get<Pod>(pods, { namespace: 'default', name });
      testbed.apiServer.delete(pods, { namespace: 'default', name }, { gracePeriodSeconds: 0 });
      const { uid: _uid, resourceVersion: _version, ...metadata } = old.metadata ?? {};
      testbed.apiServer.create<object>(pods, { ...old, metadata });
      testbed.apiServer.patch(
        pods,
        { namespace: 'default', name },
        { status: { conditions: old.status?.conditions } },
        { type: 'strategic', subresource: 'status' },
      );
    };
    testbed.faults.push({ verb: 'delete', plural: 'pods', kind: 'first', first: replace });
    const { answer } = await upgrade(testbed, agent);
    assert.equal(answer.status, 404);
    assert.equal(testbed.pod().metadata?.deletionTimestamp, undefined);
  });
});
