import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonRollouts } from '../controller/index.ts';
import { daemonSets, nodes, pods } from '../kube/index.ts';
import { type Scene, scene } from './testing/scene.ts';
import { NAMESPACE } from './testing/world.ts';

const app = { namespace: NAMESPACE, name: 'app' };

describe('a view that is not fresh', () => {
  for (const plural of ['nodes', 'daemonsets'])
    it(
      `of ${plural} begins no act, and ends by itself`,
      scene(async ({ settled, clock, world, api, deletes, condition }) => {
        const manager = await settled(3, '1', { 'edgeset.io/node-selector': 'go=yes' });
        world.setImage('v2');
        await clock.advance(5_000);
        api.silence(plural);
        await clock.advance(150_000);
        // Pods are still heard of: one that restarts wakes us.
        const name = world.podOn('n1')?.metadata?.name ?? '';
        world.setPodReady(name, false);
        await clock.advance(2_000);
        assert.equal(condition('Ready')?.reason, 'NotSynced');
        if (plural === 'daemonsets') for (const node of ['n1', 'n2']) label(api, node);
        await clock.advance(30_000);
        assert.equal(deletes().length, 0);
        assert.equal(manager.lines.filter((line) => line.includes('has received nothing')).length, 1);
        if (plural === 'nodes') for (const node of ['n1', 'n2']) label(api, node);
        api.silence(plural, false);
        await clock.advance(90_000);
        assert.equal(world.tags().n1, 'v2');
        assert.equal(world.tags().n2, 'v2');
      }),
    );

  it(
    'is suspected when the clock went back, until the API server is heard of again',
    scene(async ({ settled, clock, world, api, deletes }) => {
      await settled(2, '1');
      api.silence('nodes');
      clock.jump(-600_000);
      world.setImage('v2');
      await clock.advance(300_000);
      assert.equal(deletes().length, 0);
      api.silence('nodes', false);
      await clock.advance(90_000);
      assert.equal(deletes().length, 2);
    }),
  );

  it(
    'of pods begins no more acts than the budget has slots',
    scene(async ({ settled, clock, world, api, deletes }) => {
      await settled(4, '1');
      api.silence('pods');
      world.setImage('v2');
      await clock.advance(300_000);
      assert.equal(deletes().length, 1);
      api.silence('pods', false);
      await clock.advance(30_000);
      assert.equal(deletes().length, 4);
    }),
  );

  it(
    'is not thought of a cluster in which nothing happens',
    scene(async ({ settled, clock, world, deletes, manage }) => {
      await settled(2, '1');
      manage('m2');
      await clock.advance(3_600_000);
      world.setImage('v2');
      await clock.advance(100);
      assert.equal(deletes().length, 1);
    }),
  );
});

const label = (api: Scene['api'], name: string): void =>
  void api.objects.patch(nodes, { name }, { metadata: { labels: { go: 'yes' } } });

describe('a clock that jumps', () => {
  for (const minutes of [-10, 10])
    it(
      `by ${minutes} minutes in the middle of a rollout stops nothing for long`,
      scene(async ({ settled, clock, world, deletes, mostDown, condition }) => {
        await settled(3, '1');
        world.setImage('v2');
        await clock.advance(500);
        assert.equal(deletes().length, 1);
        clock.jump(minutes * 60_000);
        await clock.advance(90_000);
        assert.deepEqual(world.tags(), { n1: 'v2', n2: 'v2', n3: 'v2' });
        assert.equal(mostDown(), 1);
        assert.equal(condition('Complete')?.status, 'True');
      }),
    );
});

describe('the cost', () => {
  it(
    'of a heartbeat is no pass over any DaemonSet',
    scene(async ({ settled, clock, api }) => {
      let passes = 0;
      const manager = await settled(2, '1');
      await Promise.all([manager.resign(), clock.advance(1_000)]);
      manager.onPass(() => (passes += 1));
      manager.lead();
      await clock.advance(5_000);
      passes = 0;
      for (let beat = 0; beat < 10; beat += 1) {
        api.objects.patch(nodes, { name: 'n1' }, { metadata: { annotations: { beat: String(beat) } } });
        await clock.advance(100);
      }
      assert.equal(passes, 0);
      label(api, 'n1');
      await clock.advance(100);
      assert.equal(passes, 0, 'a label that the DaemonSet does not ask for');
    }),
  );

  it(
    'of many events within a moment is one pass at once and few after it',
    scene(async ({ settled, clock, world }) => {
      let passes = 0;
      const manager = await settled(2, '1');
      const name = world.podOn('n1')?.metadata?.name ?? '';
      manager.onPass(() => (passes += 1));
      world.setPodReady(name, false);
      await clock.advance(10);
      assert.equal(passes, 1, 'at once');
      for (let count = 0; count < 40; count += 1) {
        world.setPodReady(name, count % 2 === 1);
        await clock.advance(5);
      }
      assert.ok(passes <= 6, `${passes} passes in 210 ms`);
      await clock.advance(100);
      assert.ok(passes >= 4, 'the last event is not left without a pass');
    }),
  );

  it(
    'of a DaemonSet that did not opt in is nothing',
    scene(async ({ settled, clock, world, requests }) => {
      const manager = await settled(1, '1');
      const since = clock.now();
      world.createSet({}, { name: 'other', optIn: false });
      await clock.advance(30_000);
      assert.deepEqual(requests(since), []);
      assert.equal([...manager.controller.snapshot()].length, 1);
    }),
  );
});

it(
  'serves a DaemonSet that comes back under its old name as a new one',
  scene(async ({ settled, clock, world, api, status, deletes, mostDown }) => {
    const manager = await settled(2, '1');
    world.setImage('v2');
    await clock.advance(500);
    api.objects.remove(daemonSets, app);
    for (const pod of api.objects.all(pods))
      api.objects.remove(pods, { namespace: NAMESPACE, name: pod.metadata?.name ?? '' });
    api.objects.remove(daemonRollouts, app);
    world.createSet({ 'apps.openyurt.io/max-unavailable': '1' }, { tag: 'v7' });
    await clock.advance(30_000);
    assert.equal(status().target?.hash, 'v7');
    assert.equal(status().rollout, 1);
    assert.deepEqual(world.tags(), { n1: 'v7', n2: 'v7' });
    assert.ok(deletes().length <= 2 && mostDown() <= 2);
    assert.equal([...manager.controller.snapshot()].length, 1);
  }),
);

describe('a cluster at rest', () => {
  for (const last of ['nodes', 'daemonsets', 'controllerrevisions', 'pods'])
    it(
      `is looked at as soon as the cache of ${last}, the last one, is filled`,
      scene(async ({ world, api, clock, manage, status }) => {
        world.addNode('n1');
        world.createSet();
        await clock.advance(10_000);
        api.breakWatch(last);
        manage().lead();
        await clock.advance(3_000);
        assert.deepEqual(api.calls, []);
        api.breakWatch(last, false);
        await clock.advance(5_000);
        assert.equal(status().summary, 'Complete');
      }),
    );

  it(
    'is served although its rollout objects cannot be watched',
    scene(async ({ world, api, clock, manage, status }) => {
      world.addNode('n1');
      world.createSet();
      await clock.advance(10_000);
      api.breakWatch('daemonrollouts');
      manage().lead();
      await clock.advance(10_000);
      assert.equal(status().summary, 'Complete');
    }),
  );
});
