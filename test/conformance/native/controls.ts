import assert from 'node:assert/strict';
import { section } from '../kit/index.ts';

const partition = (value: string | null) => ({ 'edgeset.io/partition': value });

export const controls = section('Controls', (rule) => {
  rule(
    'partition keeps that many nodes on the old revision, by name, and can be lowered step by step',
    async (c) => {
      await c.startRollout('app:v2', { annotations: partition('3') });
      await c.untilRunning('app:v2', c.nodes.slice(3));
      await c.expectNoUpdatesFor(2);
      const resting = await c.untilCondition('Reconciling', 'False');
      assert.equal(resting.reason, 'LeftOnOldRevision');
      assert.equal((await c.condition('Complete'))?.status, 'False');
      assert.equal((await c.status()).nodes?.held, 3);

      await c.annotate(partition('1'));
      await c.untilRunning('app:v2', c.nodes.slice(1));
      await c.expectNoUpdatesFor(2);
      assert.deepEqual(await c.running('app:v1'), c.nodes.slice(0, 1));

      await c.annotate(partition(null));
      await c.untilComplete('app:v2');
    },
    { nodes: 4 },
  );

  rule(
    'partition may be a percentage of the eligible nodes',
    async (c) => {
      await c.startRollout('app:v2', { annotations: partition('50%') });
      await c.untilRunning('app:v2', c.nodes.slice(3));
      await c.expectNoUpdatesFor(2);
      assert.deepEqual(await c.running('app:v1'), c.nodes.slice(0, 3), 'half of five, rounded down, and one offline');
      await c.annotate(partition('0%'));
      await c.untilRunning('app:v2');
    },
    { nodes: 6 },
  );

  rule('offline nodes keep their place in a partition', async (c) => {
    const [, , away = ''] = c.nodes;
    await c.rolledOut({ annotations: partition('2') });
    await c.cluster.offline([away]);
    await c.setImage('app:v2');
    await c.until('the others are held', async () => (await c.status()).nodes?.held === 2);
    await c.expectNoUpdatesFor(3);
    await c.cluster.online([away]);
    await c.untilRunning('app:v2', [away]);
    await c.expectNoUpdatesFor(2);
    assert.deepEqual(await c.updatedNodes(), [away]);
  });

  rule('node-selector updates only matching nodes', async (c) => {
    const [ring = '', ...others] = c.nodes;
    await c.api.merge(`/api/v1/nodes/${ring}`, { metadata: { labels: { ring: 'first' } } });
    await c.startRollout('app:v2', { annotations: { 'edgeset.io/node-selector': 'ring in (first)' } });
    await c.untilRunning('app:v2', [ring]);
    await c.expectNoUpdatesFor(2);
    assert.deepEqual(await c.running('app:v1'), others);
    assert.equal((await c.condition('Complete'))?.status, 'False');
    await c.api.merge(`/api/v1/nodes/${others[0]}`, { metadata: { labels: { ring: 'first' } } });
    await c.untilRunning('app:v2', [ring, others[0] ?? '']);
    await c.annotate({ 'edgeset.io/node-selector': null });
    await c.untilRunning('app:v2');
  });

  rule(
    'pausing stops the rollout midway, unpausing continues it, and Events report both',
    async (c) => {
      await c.startRollout('app:v2', { podAnnotations: { 'sim.edgeset.io/start-ms': '1500' } });
      await c.until('the first act', async () => (await c.updates()).length === 1);
      await c.annotate({ 'edgeset.io/paused': 'true' });
      await c.untilCondition('Paused');
      await c.until('the act that had begun ends well', async () => (await c.running('app:v2')).length === 1);
      await c.expectNoUpdatesFor(3);
      await c.untilEvent('RolloutPaused');
      await c.annotate({ 'edgeset.io/paused': 'false' });
      await c.untilComplete('app:v2');
      await c.untilEvent('RolloutUnpaused');
      assert.equal((await c.events('RolloutPaused')).length, 1);
    },
    { nodes: 4 },
  );

  for (const [key, bad] of [
    ['edgeset.io/paused', 'yes'],
    ['edgeset.io/partition', '-1'],
    ['edgeset.io/node-selector', 'a in ('],
    ['edgeset.io/settle-seconds', 'soon'],
    ['edgeset.io/progress-deadline-seconds', '10m'],
    ['edgeset.io/failure-threshold', '0'],
    ['edgeset.io/first-wave', '0'],
    ['edgeset.io/first-wave', '101%'],
    ['edgeset.io/on-failure', 'explode'],
    ['edgeset.io/on-image-drift', 'ignore'],
    ['edgeset.io/topology-key', 'not a key'],
    ['edgeset.io/suspect-window-seconds', '-5'],
  ] as const)
    rule(
      `a bad ${key} is reported like an invalid budget`,
      async (c) => {
        await c.create({ annotations: { [key]: bad } });
        await c.untilRunning('app:v1');
        const stalled = await c.untilCondition('Stalled');
        assert.ok(stalled.message.includes(`${key} "${bad}"`), stalled.message);
        const event = await c.untilEvent('InvalidPolicy');
        assert.ok(event.note?.includes(key));
        await c.setImage('app:v2');
        await c.expectNoUpdatesFor(1);
        await c.annotate({ [key]: null });
        await c.untilRunning('app:v2');
      },
      { nodes: 1 },
    );
});
