import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { daemonSets, pods } from '../../kube/index.ts';
import type { Agent } from '../agent.ts';
import { answerOf, newWorld, offered } from '../testing/drive.ts';
import { authorized, owner, type World } from '../testing/world.ts';

describe('upgrade, the compatible route', () => {
  const post = (world: World, agent: Agent, options: { queue?: boolean } = {}) =>
    answerOf(world, agent.upgrade(world.ref(), owner, { queue: options.queue ?? false, reauthorize: authorized }));

  it('replaces the pod: one delete, bound to the pod that was read', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    const { name } = world.ref();
    const { uid, resourceVersion } = world.pod().metadata ?? {};
    const { answer } = await post(world, agent);
    assert.deepEqual(answer, { status: 200, text: `Start updating pod default/${name}` });
    assert.partialDeepStrictEqual(world.calls.find(({ verb }) => verb === 'delete')?.options, {
      preconditions: { uid, resourceVersion },
    });
    assert.equal(agent.updates()[0]?.state, 'updating');
    await world.until('the new version runs', () => agent.updates()[0]?.state === 'current');
    assert.equal(world.pod().spec?.containers[0]?.image, 'app:v2');
    assert.equal(world.deletes(), 1);
    assert.deepEqual(
      agent.history().map(({ what }) => what),
      ['Updated', 'Deleted', 'Deleting', 'approve'],
    );
    assert.deepEqual(
      world.events.map(({ reason }) => reason),
      ['OwnerDecided', 'UpdateCarriedOut'],
    );
  });

  const patchPod = (world: World, body: object, subresource?: string): void => {
    const options = { type: 'strategic' as const, ...(subresource && { subresource }) };
    world.apiServer.patch(pods, world.ref(), body, options);
  };
  const condition = (type: string, status: string, reason: string, message: string): object => ({
    status: { conditions: [{ type, status, reason, message }] },
  });
  const target = (world: World, agent: Agent): string =>
    agent.updates()[0]?.target.revision ?? `none in ${world.ref().name}`;

  const refusals: [string, number, RegExp, (world: World, agent: Agent) => void | Promise<void>][] = [
    [
      'a pod that is being deleted',
      403,
      /^Pod default\/\S+ is deleting, can not be updated$/,
      (world) => {
        world.apiServer.delete(pods, world.ref());
      },
    ],
    [
      'a pod that needs no update, though the cache still says so',
      403,
      /update status is False, can not be updated$/,
      (world) => {
        world.cut(true);
        world.cut(false);
        patchPod(world, condition('PodNeedUpgrade', 'False', 'UpToDate', 'controllerrevision: abc'), 'status');
      },
    ],
    [
      'images that are on their way',
      403,
      /image is not ready, reason: PullingImage$/,
      (world, agent) =>
        patchPod(
          world,
          condition('PodImageReady', 'False', 'PullingImage', `controllerrevision: ${target(world, agent)}`),
          'status',
        ),
    ],
    [
      'images of another revision',
      403,
      /image is not ready, reason: PullImageSuccess, for revision older$/,
      (world) =>
        patchPod(world, condition('PodImageReady', 'True', 'PullImageSuccess', 'controllerrevision: older'), 'status'),
    ],
    [
      'a DaemonSet that left the OTA mode',
      403,
      /is no longer in OTA mode$/,
      (world) => {
        world.apiServer.patch(
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
      async (world) => {
        world.halt(true);
        await world.advance(50);
      },
    ],
    [
      'a device that is not safe',
      403,
      /can not be updated now: the car is moving$/,
      (world) => {
        Object.assign(world.device, { configured: true, safe: false, message: 'the car is moving' });
      },
    ],
  ];
  for (const [what, status, text, prepare] of refusals)
    it(`is refused for ${what}`, async (t) => {
      const world = await newWorld(t);
      const agent = await offered(world);
      await prepare(world, agent);
      const { answer } = await post(world, agent);
      assert.match(answer.text, text);
      assert.equal(answer.status, status);
      assert.equal(world.deletes(), 0);
      assert.deepEqual(agent.history(), [], 'what was refused before it was decided leaves no trace');
    });

  it('is refused for pods that no DaemonSet replaces, and says which', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    // It would collect pods whose owners never were.
    world.cluster.controllers.garbageCollector.pause();
    const make = (name: string, nodeName: string, ownerReferences?: object[]): void => {
      world.apiServer.create<object>(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace: 'default', ...(ownerReferences && { ownerReferences }) },
        spec: { nodeName, containers: [{ name: 'app', image: 'app:v1' }] },
      });
      const body = condition('PodNeedUpgrade', 'True', 'NewRevision', 'controllerrevision: abc');
      world.apiServer.patch(pods, { namespace: 'default', name }, body, { type: 'strategic', subresource: 'status' });
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
      assert.deepEqual((await answerOf(world, answer)).answer, { status, text });
    }
    assert.equal(world.deletes(), 0);
  });

  it('is refused when the caller is gone by the time of the act', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    let asked = 0;
    const leaves = () => Promise.resolve((asked += 1) > 1 ? 'the caller has gone' : undefined);
    const { answer } = await answerOf(world, agent.upgrade(world.ref(), owner, { queue: false, reauthorize: leaves }));
    assert.deepEqual(answer, { status: 403, text: 'the caller has gone' });
    assert.equal(world.deletes(), 0);
    await world.advance(60_000);
    assert.equal(world.deletes(), 0, 'what was asked for at once is not done later');
  });

  it('answers 503 at once without a link, and within 5 s when nobody answers', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    world.cut(true);
    const text = 'OTA upgrade is not allowed when node is disconnected to cloud';
    const first = await post(world, agent);
    assert.deepEqual(first.answer, { status: 503, text });
    world.cut(false);
    await world.until('connected', () => agent.device().connected);
    world.faults.push({ verb: 'get', plural: 'pods', kind: 'hang' });
    const second = await post(world, agent);
    assert.deepEqual(second.answer, { status: 503, text });
    assert.ok(second.ms <= 5_000, `${second.ms} ms`);
    world.faults.push({ verb: 'get', plural: 'daemonsets', kind: 'hang' });
    const third = await post(world, agent);
    assert.deepEqual(third.answer, { status: 503, text });
    assert.ok(third.ms <= 5_000, `${third.ms} ms`);
    await world.advance(120_000);
    assert.equal(world.deletes(), 0, 'nothing was sent, now or later');
  });

  for (const queue of [false, true])
    it(`gives way to what was decided while it waited for the network${queue ? ', and waits no further' : ''}`, async (t) => {
      const world = await newWorld(t);
      const agent = await offered(world);
      const revision = target(world, agent);
      const at = { namespace: 'default', daemonSet: 'app' };
      const reject = (): void =>
        void agent.decide(at, revision, { choice: 'reject' }, owner, authorized).catch(assert.fail);
      // A link that died, unnoticed by the watch; and a read that takes its time.
      if (queue) world.faults.push({ verb: 'get', plural: 'pods', kind: 'hang' });
      else world.faults.push({ verb: 'get', plural: 'daemonsets', kind: 'first', first: reject });
      const pressed = agent.upgrade(world.ref(), owner, { queue, reauthorize: authorized });
      await world.advance(1_000);
      if (queue) reject();
      const { answer } = await answerOf(world, pressed);
      assert.equal(answer.status, 403);
      assert.match(answer.text, /its owner has made another decision meanwhile$/);
      await world.advance(120_000);
      assert.equal(world.deletes(), 0);
      assert.equal(agent.updates()[0]?.state, 'rejected');
      // Pressed after that, it holds.
      assert.equal((await post(world, agent, { queue })).answer.status, 200);
    });

  it('is refused while the DaemonSet asks for another version than the one that was announced', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    const revision = target(world, agent);
    world.cluster.controllers.daemonSets.pause();
    world.setImage('app:v3');
    const { answer } = await post(world, agent);
    assert.equal(answer.status, 403);
    assert.match(answer.text, new RegExp(`has changed since ${revision} was announced$`));
    const at = { namespace: 'default', daemonSet: 'app' };
    await agent.decide(at, revision, { choice: 'approve', when: { type: 'now' } }, owner, authorized);
    await world.advance(60_000);
    assert.equal(world.deletes(), 0);
    assert.equal(agent.updates()[0]?.reason, 'Superseded');

    world.cluster.controllers.daemonSets.resume();
    await world.until('the newest is offered', () => agent.updates()[0]?.state === 'available');
    assert.equal((await post(world, agent)).answer.status, 200);
    await world.until('it runs', () => world.pods()[0]?.spec?.containers[0]?.image === 'app:v3');
    assert.equal(world.deletes(), 1);
  });

  it('answers 502 with the reason when the API server refuses', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    world.faults.push({ verb: 'delete', plural: 'pods', kind: 'refuse' });
    const { answer } = await post(world, agent);
    assert.equal(answer.status, 502);
    assert.match(answer.text, /a policy refuses it/);
    assert.match(agent.history()[0]?.result ?? '', /a policy refuses it/);
    await world.advance(60_000);
    assert.equal(world.deletes(), 1);
  });

  it('sends one delete for 50 callers at once, and tells all of them the same', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    const { name } = world.ref();
    const all = Array.from({ length: 50 }, () =>
      agent.upgrade({ namespace: 'default', name }, owner, { queue: false, reauthorize: authorized }),
    );
    const { answer } = await answerOf(world, Promise.all(all));
    assert.deepEqual(new Set(answer.map(({ text }) => text)), new Set([`Start updating pod default/${name}`]));
    assert.equal(world.deletes(), 1);
    const after = await answerOf(
      world,
      agent.upgrade({ namespace: 'default', name }, owner, { queue: false, reauthorize: authorized }),
    );
    assert.equal(after.answer.status, 403);
    assert.match(after.answer.text, /is deleting/);
    assert.equal(world.deletes(), 1);
  });

  it('looks again at a pod that changed between the read and the delete', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    const touch = (): void => patchPod(world, { metadata: { labels: { touched: String(world.calls.length) } } });
    world.faults.push({ verb: 'delete', plural: 'pods', kind: 'first', first: touch });
    const { answer } = await post(world, agent);
    assert.equal(answer.status, 200);
    assert.equal(world.deletes(), 2, 'the first one met another version and did nothing');
  });

  it('does not delete a pod whose update was taken back between the read and the delete', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    const revert = (): void =>
      patchPod(world, condition('PodNeedUpgrade', 'False', 'UpToDate', 'controllerrevision: abc'), 'status');
    world.faults.push({ verb: 'delete', plural: 'pods', kind: 'first', first: revert });
    const { answer } = await post(world, agent);
    assert.equal(answer.status, 403);
    assert.match(answer.text, /update status is False/);
    assert.equal(world.pod().metadata?.deletionTimestamp, undefined);
    assert.equal(world.deletes(), 1);
  });

  it('does not delete another pod that has the name by now', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world);
    const { name } = world.ref();
    world.cluster.controllers.daemonSets.pause();
    const replace = (): void => {
      const old = world.apiServer.get<Pod>(pods, { namespace: 'default', name });
      world.apiServer.delete(pods, { namespace: 'default', name }, { gracePeriodSeconds: 0 });
      const { uid: _uid, resourceVersion: _version, ...metadata } = old.metadata ?? {};
      world.apiServer.create<object>(pods, { ...old, metadata });
      world.apiServer.patch(
        pods,
        { namespace: 'default', name },
        { status: { conditions: old.status?.conditions } },
        { type: 'strategic', subresource: 'status' },
      );
    };
    world.faults.push({ verb: 'delete', plural: 'pods', kind: 'first', first: replace });
    const { answer } = await post(world, agent);
    assert.equal(answer.status, 404);
    assert.equal(world.pod().metadata?.deletionTimestamp, undefined);
  });
});
