import assert from 'node:assert/strict';
import { section } from '../kit/index.ts';

export const target = section('Target revision', (rule) => {
  rule(
    'no update before the native controller has observed the new generation',
    async (c) => {
      await c.rolledOut();
      c.cluster.nativeController.pause();
      try {
        await c.setImage('app:v2');
        await c.expectNoUpdatesFor(3);
        const ready = await c.untilCondition('Ready', 'False');
        assert.equal(ready.reason, 'TemplateNotObserved');
        assert.equal((await c.condition('Complete'))?.status, 'False');
      } finally {
        c.cluster.nativeController.resume();
      }
      await c.untilRunning('app:v2');
    },
    { forAll: true },
  );

  rule('a change outside of the template starts no rollout', async (c) => {
    await c.rolledOut();
    const before = await c.status();
    await c.change({ spec: { minReadySeconds: 1 }, metadata: { labels: { unrelated: 'yes' } } });
    await c.until('the change is seen', async () => (await c.status()).daemonSetGeneration === 2);
    await c.expectNoUpdatesFor(2);
    const { rollout, target: revision } = await c.status();
    assert.deepEqual({ rollout, target: revision }, { rollout: before.rollout, target: before.target });
  });

  rule('A to B to A is two rollouts, each with one update per node', async (c) => {
    await c.rolledOut();
    const [first] = await c.pods();
    await c.bringTo('app:v2');
    await c.bringTo('app:v1');
    assert.equal((await c.updates()).length, 6);
    const { target: revision, rollout } = await c.status();
    assert.equal(revision?.hash, first?.hash, 'the same revision, raised');
    assert.equal(revision?.number, 3);
    assert.equal(rollout, 3);
  });

  rule(
    'a template that is reverted midway does not update untouched nodes',
    async (c) => {
      await c.rolledOut({ podAnnotations: { 'sim.edgeset.io/start-ms': '1500' } });
      const before = new Map((await c.pods()).map((pod) => [pod.node, pod.uid]));
      await c.setImage('app:v2');
      await c.until('the first act', async () => (await c.updates()).length > 0);
      await c.bringTo('app:v1');
      const touched = new Set(await c.updatedNodes());
      assert.ok(touched.size < 4, `${touched.size} of 4 nodes were touched`);
      for (const pod of await c.pods())
        if (!touched.has(pod.node)) assert.equal(pod.uid, before.get(pod.node), `${pod.node} kept its pod`);
    },
    { nodes: 4 },
  );

  rule('after a template change midway, all nodes end at the last template', async (c) => {
    await c.startRollout('app:v2', { podAnnotations: { 'sim.edgeset.io/start-ms': '800' } });
    await c.until('the first act', async () => (await c.updates()).length > 0);
    await c.bringTo('app:v3');
  });
});
