import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonSets, nodes, pods } from '../kube/index.ts';
import { daemonRollouts } from './daemon-rollout.ts';
import { NAMESPACE } from './testing/cluster.ts';
import { type Scenario, scenario } from './testing/scenario.ts';

const app = { namespace: NAMESPACE, name: 'app' };

const label = (api: Scenario['api'], name: string): void =>
  void api.objects.patch(nodes, { name }, { metadata: { labels: { go: 'yes' } } });

describe('the cost of events', () => {
  it(
    'of heartbeats is no reconcile',
    scenario(async ({ settled, clock, api }) => {
      let reconciles = 0;
      const manager = await settled(2, '1');
      await Promise.all([manager.resign(), clock.advance(1_000)]);
      manager.onReconcile(() => (reconciles += 1));
      manager.lead();
      await clock.advance(5_000);
      reconciles = 0;
      for (let beat = 0; beat < 10; beat += 1) {
        api.objects.patch(nodes, { name: 'n1' }, { metadata: { annotations: { beat: String(beat) } } });
        await clock.advance(100);
      }
      assert.equal(reconciles, 0);
      label(api, 'n1');
      await clock.advance(100);
      assert.equal(reconciles, 0, 'a label that the DaemonSet does not select by');
    }),
  );

  it(
    'of many events at once is one immediate reconcile and few after it',
    scenario(async ({ settled, clock, cluster }) => {
      let reconciles = 0;
      const manager = await settled(2, '1');
      const name = cluster.podOn('n1')?.metadata?.name ?? '';
      manager.onReconcile(() => (reconciles += 1));
      cluster.setPodReady(name, false);
      await clock.advance(10);
      assert.equal(reconciles, 1, 'at once');
      for (let count = 0; count < 40; count += 1) {
        cluster.setPodReady(name, count % 2 === 1);
        await clock.advance(5);
      }
      assert.ok(reconciles <= 6, `${reconciles} reconciles in 210 ms`);
      await clock.advance(100);
      assert.ok(reconciles >= 4, 'the last event is reconciled');
    }),
  );

  it(
    'of a DaemonSet that did not opt in is zero',
    scenario(async ({ settled, clock, cluster, requests }) => {
      const manager = await settled(1, '1');
      const since = clock.now();
      cluster.createSet({}, { name: 'other', optIn: false });
      await clock.advance(30_000);
      assert.deepEqual(requests(since), []);
      assert.equal([...manager.controller.snapshot()].length, 1);
    }),
  );
});

describe('a cluster at rest', () => {
  for (const last of ['nodes', 'daemonsets', 'controllerrevisions', 'pods'])
    it(
      `is reconciled as soon as the cache of ${last}, the last one, has synced`,
      scenario(async ({ cluster, api, clock, manage, status }) => {
        cluster.addNode('n1');
        cluster.createSet();
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
    'is managed even if DaemonRollouts cannot be watched',
    scenario(async ({ cluster, api, clock, manage, status }) => {
      cluster.addNode('n1');
      cluster.createSet();
      await clock.advance(10_000);
      api.breakWatch('daemonrollouts');
      manage().lead();
      await clock.advance(10_000);
      assert.equal(status().summary, 'Complete');
    }),
  );
});

it(
  'a DaemonSet that is created again under the same name is a new one',
  scenario(async ({ settled, clock, cluster, api, status, deletes, mostDown }) => {
    const manager = await settled(2, '1');
    cluster.setImage('v2');
    await clock.advance(500);
    api.objects.remove(daemonSets, app);
    for (const pod of api.objects.all(pods))
      api.objects.remove(pods, { namespace: NAMESPACE, name: pod.metadata?.name ?? '' });
    api.objects.remove(daemonRollouts, app);
    cluster.createSet({ 'apps.openyurt.io/max-unavailable': '1' }, { tag: 'v7' });
    await clock.advance(30_000);
    assert.equal(status().target?.hash, 'v7');
    assert.equal(status().rollout, 1);
    assert.deepEqual(cluster.tags(), { n1: 'v7', n2: 'v7' });
    assert.ok(deletes().length <= 2 && mostDown() <= 2);
    assert.equal([...manager.controller.snapshot()].length, 1);
  }),
);
