import assert from 'node:assert/strict';
import { section } from '../kit/index.ts';

export const eligibility = section('Eligible nodes', (rule) => {
  rule('a node with an untolerated taint is excluded from the rollout', async (c) => {
    const [tainted = '', ...others] = c.nodes;
    await c.rolledOut();
    await c.api.patch(`/api/v1/nodes/${tainted}`, { spec: { taints: [{ key: 'mine', effect: 'NoSchedule' }] } });
    await c.until('it is left out', async () => (await c.status()).nodes?.eligible === 2);
    await c.setImage('app:v2');
    await c.untilComplete('app:v2', others);
    assert.equal((await c.podOn(tainted)).image, 'app:v1');
    await c.api.merge(`/api/v1/nodes/${tainted}`, { spec: { taints: null } });
    await c.untilRunning('app:v2');
  });

  rule('a toleration includes it in the rollout', async (c) => {
    const [tainted = ''] = c.nodes;
    await c.api.patch(`/api/v1/nodes/${tainted}`, { spec: { taints: [{ key: 'mine', effect: 'NoSchedule' }] } });
    await c.startRollout('app:v2', { podSpec: { tolerations: [{ key: 'mine', operator: 'Exists' }] } });
    await c.untilRunning('app:v2');
    assert.equal((await c.status()).nodes?.eligible, 3);
  });

  rule(
    'nodeSelector and required node affinity select the nodes',
    async (c) => {
      const [first = '', second = '', third = ''] = c.nodes;
      for (const [node, tier] of [
        [first, 'gold'],
        [second, 'gold'],
        [third, 'tin'],
      ])
        await c.api.merge(`/api/v1/nodes/${node}`, { metadata: { labels: { tier } } });
      const terms = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'NotIn', values: [second] }] }];
      await c.create({
        podSpec: {
          nodeSelector: { case: c.namespace, tier: 'gold' },
          affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
        },
      });
      await c.untilComplete('app:v1', [first]);
      assert.equal((await c.status()).nodes?.eligible, 1);
      await c.setImage('app:v2');
      await c.untilComplete('app:v2', [first]);
    },
    { budget: 3 },
  );

  rule('a cordoned node is updated like any other', async (c) => {
    const [cordoned = ''] = c.nodes;
    await c.rolledOut();
    await c.kubectl(['cordon', cordoned]);
    await c.setImage('app:v2');
    await c.untilRunning('app:v2');
    assert.equal((await c.status()).nodes?.eligible, 3);
  });

  rule('a NotReady node stays eligible in spite of its taints', async (c) => {
    const [away = ''] = c.nodes;
    await c.rolledOut();
    await c.cluster.offline([away]);
    await c.until('it counts as offline', async () => (await c.status()).nodes?.offline === 1);
    const { nodes } = await c.status();
    assert.equal(nodes?.eligible, 3);
    assert.equal(nodes?.online, 2);
  });

  rule('a node that joins midway gets the new version, and the rollout completes with it', async (c) => {
    await c.startRollout('app:v2', { podAnnotations: { 'sim.edgeset.io/start-ms': '800' } });
    await c.until('the first act', async () => (await c.updates()).length > 0);
    const late = `${c.namespace}-late`;
    await c.addNodes([late]);
    await c.untilComplete('app:v2', [...c.nodes, late]);
    assert.equal((await c.status()).nodes?.eligible, 4);
  });

  rule(
    'a pod whose Node object is missing affects only that node',
    async (c) => {
      const [gone = '', ...others] = c.nodes;
      await c.rolledOut({ podAnnotations: { 'sim.edgeset.io/start-ms': '800' } });
      await c.cluster.removeNodes([gone]);
      await c.setImage('app:v2');
      await c.untilComplete('app:v2', others);
      assert.equal((await c.status()).nodes?.eligible, 3);
    },
    { nodes: 4 },
  );

  rule(
    'pods of other owners are not touched, even if the selectors overlap',
    async (c) => {
      const other = {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { name: 'other', namespace: c.namespace },
        spec: {
          selector: { matchLabels: { app: 'app', tier: 'other' } },
          updateStrategy: { type: 'OnDelete' },
          template: {
            metadata: { labels: { app: 'app', tier: 'other' } },
            spec: { nodeSelector: { case: c.namespace }, containers: [{ name: 'app', image: 'other:v1' }] },
          },
        },
      };
      await c.api.create(`/apis/apps/v1/namespaces/${c.namespace}/daemonsets`, other);
      await c.untilRunning('other:v1');
      const before = (await c.pods()).filter(({ image }) => image === 'other:v1').map(({ uid }) => uid);
      await c.rolledOut();
      await c.bringTo('app:v2');
      const after = (await c.pods()).filter(({ image }) => image === 'other:v1').map(({ uid }) => uid);
      assert.deepEqual(after.toSorted(), before.toSorted());
    },
    { nodes: 2 },
  );

  rule(
    'a node with two pods is left to the native controller, and the rollout continues on the others',
    async (c) => {
      const [twice = '', ...others] = c.nodes;
      await c.startRollout('app:v2', {
        annotations: { 'edgeset.io/paused': 'true', 'apps.openyurt.io/max-unavailable': '3' },
      });
      await c.until('the target is known', async () => (await c.status()).nodes?.outdated === 3);
      const { object } = await c.podOn(twice);
      c.cluster.nativeController.pause();
      try {
        const { labels, ownerReferences } = object.metadata ?? {};
        await c.api.create(`/api/v1/namespaces/${c.namespace}/pods`, {
          metadata: { generateName: 'app-', labels, ownerReferences },
          spec: { nodeName: twice, containers: [{ name: 'app', image: 'app:v1' }] },
        });
        await c.until('both are seen', async () =>
          (await c.status()).causes?.some(({ cause }) => cause === 'duplicate-pods'),
        );
        await c.annotate({ 'edgeset.io/paused': null });
        await c.until('the others are acted on', async () => (await c.updates()).length === 2);
        await c.expectNoUpdatesFor(2);
        assert.deepEqual((await c.updatedNodes()).toSorted(), others);
      } finally {
        c.cluster.nativeController.resume();
      }
      await c.untilRunning('app:v2');
    },
    { forAll: true },
  );
});
