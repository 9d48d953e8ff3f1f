import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { daemonSets, nodes, pods } from '../../kube/index.ts';
import type { RolloutPlanObject } from '../../words/index.ts';
import { daemonRollouts } from '../status/daemon-rollout.ts';
import { NAMESPACE } from '../testing/cluster.ts';
import { type Scenario, scenario } from '../testing/scenario.ts';
import { rolloutPlans } from '../watches/plans.ts';

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
    'of many events at once is an immediate reconcile, and then one in 50 ms',
    scenario(async ({ settled, clock, cluster }) => {
      let reconciles = 0;
      const manager = await settled(2, '1');
      const name = cluster.podOn('n1')?.metadata?.name ?? '';
      manager.onReconcile(() => (reconciles += 1));
      cluster.setPodReady(name, false);
      await clock.advance(10);
      assert.equal(reconciles, 1, 'at once');
      for (let count = 0; count < 100; count += 1) {
        cluster.setPodReady(name, count % 2 === 1);
        await clock.advance(5);
      }
      assert.ok(reconciles >= 10 && reconciles <= 11, `${reconciles} reconciles in 510 ms`);
      const before = reconciles;
      cluster.setPodReady(name, false);
      await clock.advance(50);
      assert.ok(reconciles > before, 'the last event is reconciled');
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

describe('one DaemonSet that cannot be served', () => {
  it(
    'because its pods cannot be listed keeps no replica from being ready',
    scenario(async ({ cluster, api, clock, manage }) => {
      cluster.addNode('n1');
      cluster.createSet();
      await clock.advance(10_000);
      api.breakWatch('pods');
      const manager = manage();
      await clock.advance(29_000);
      assert.equal(manager.controller.synced(), false);
      await clock.advance(2_000);
      assert.equal(manager.controller.synced(), true);
      assert.equal(manager.controller.synced(), true);
      const reports = manager.lines.filter((line) => line.includes('pods cannot be listed'));
      assert.equal(reports.length, 1, 'reported once');
    }),
  );

  it(
    'because the API server does not answer for its namespace keeps no worker from others',
    scenario(async ({ manage, cluster, api, clock }) => {
      cluster.nativeController.observes = false;
      cluster.nativeController.creates = false;
      const create = (namespace: string, name: string): void => {
        cluster.createSet({}, { name });
        const { spec, metadata } = cluster.getSet(name);
        api.objects.remove(daemonSets, { namespace: NAMESPACE, name });
        api.objects.create(daemonSets, {
          metadata: { name, namespace, annotations: metadata?.annotations ?? {} },
          spec,
        } as DaemonSet);
      };
      const slow = Array.from({ length: 21 }, (_, index) => `slow-${index}`);
      for (const [index, name] of slow.entries()) create(`hostile-${index % 3}`, name);
      create('good', 'app');
      const holds = slow.map((name) => api.fault('get', 'daemonrollouts', { kind: 'hold' }, { name, times: 99 }));
      const manager = manage();
      await clock.advance(1_000);
      manager.lead();
      await clock.advance(2_500);
      const asked = api.sent('get', 'daemonrollouts');
      assert.ok(asked.includes('app'), asked.join());
      assert.ok(asked.length <= 13, 'four of each hostile namespace');
      for (const hold of holds) hold.release();
      await clock.advance(60_000);
      assert.equal(new Set(api.sent('get', 'daemonrollouts')).size, 22);
    }),
  );
});

describe('a watch that was silent', () => {
  it(
    'is noticed to be back soon enough to update a node within a second, although a bookmark triggers no reconcile',
    scenario(async ({ settled, clock, cluster, api, deletes }) => {
      await settled(1, '1');
      api.silence('nodes');
      await clock.advance(174_900);
      cluster.setImage('v2');
      api.silence('nodes', false);
      // The next bookmark comes now. Here a write takes no time; for the two that an update takes, some must be left.
      await clock.advance(100);
      assert.equal(deletes().length, 0);
      await clock.advance(600);
      assert.equal(deletes().length, 1);
    }),
  );
});

describe('a change of the template', () => {
  it(
    'lets a node wait that comes to be eligible by it, as the plan says',
    scenario(async ({ cluster, manage, clock, api }) => {
      const template = (site: string | null) => ({ spec: { template: { spec: { nodeSelector: { site } } } } });
      api.objects.create(rolloutPlans, {
        metadata: { namespace: NAMESPACE, name: 'after' },
        spec: { after: [{ name: 'driver' }] },
      } as RolloutPlanObject);
      cluster.createSet({ 'edgeset.io/rollout-plan': 'after' });
      api.objects.patch(daemonSets, app, template('a'));
      for (const site of ['a', 'b']) cluster.addNode(site, { labels: { site } });
      const manager = manage();
      await clock.advance(1_000);
      const waiting = (): string[] => {
        const [shown] = manager.controller.snapshot();
        return ['a', 'b'].filter((node) => shown?.ledger.get(node)?.waitsFor?.startsWith('driver'));
      };
      assert.deepEqual(waiting(), ['a']);
      api.objects.patch(daemonSets, app, template(null));
      await clock.advance(1_000);
      assert.deepEqual(waiting(), ['a', 'b']);
    }),
  );
});
