import assert from 'node:assert/strict';
import { section } from '../kit/index.ts';
import { deleteByHand, setRolling } from './strategy.ts';

const recreateKey = 'edgeset.io/recreate';

export const partition = section(
  'Partition',
  (rule) => {
    rule(
      'keeps that many nodes on the old revision, by name from the end, and is lowered step by step as a canary',
      async (c) => {
        await c.startRollout('app:v2', { rollingUpdate: { partition: 4, maxUnavailable: 2 } });
        for (const left of [4, 2, 0]) {
          await setRolling(c, { partition: left });
          await c.untilRunning('app:v2', c.nodes.slice(left));
          await c.expectNoUpdatesFor(1.5);
          assert.deepEqual(await c.running('app:v1'), c.nodes.slice(0, left));
          await c.untilCondition('Complete', left === 0 ? 'True' : 'False');
          await c.until(
            'the status counts them',
            async () => (await c.advanced()).status?.updatedNumberScheduled === 5 - left,
          );
        }
      },
      { nodes: 5 },
    );

    rule(
      'rounds a percentage down; offline nodes count and keep their place',
      async (c) => {
        const [, , , , away = ''] = c.nodes;
        await c.rolledOut({ rollingUpdate: { partition: '50%', maxUnavailable: 3 } });
        await c.cluster.offline([away]);
        await c.setImage('app:v2');
        await c.untilRunning('app:v2', c.nodes.slice(2, 4));
        await c.expectNoUpdatesFor(1.5);
        await c.cluster.online([away]);
        await c.untilRunning('app:v2', c.nodes.slice(2));
        await c.expectNoUpdatesFor(1.5);
        assert.deepEqual(await c.running('app:v1'), c.nodes.slice(0, 2), 'half of five, rounded down');
      },
      { nodes: 5 },
    );

    rule(
      'that is raised rolls nothing back, and a recreated pod has the current revision',
      async (c) => {
        await c.startRollout('app:v2', { rollingUpdate: { partition: 2 } });
        await c.untilRunning('app:v2', c.nodes.slice(2));
        await setRolling(c, { partition: 4 });
        await c.expectNoUpdatesFor(1.5);
        assert.deepEqual(await c.running('app:v2'), c.nodes.slice(2));
        for (const node of [c.nodes[0], c.nodes[3]]) assert.equal((await deleteByHand(c, node)).image, 'app:v2');
        await c.expectNoUpdatesFor(1);
        assert.deepEqual(await c.running('app:v1'), [c.nodes[1]]);
      },
      { nodes: 4 },
    );

    rule(
      'keeps its nodes also where pods are deleted and nodes join, if new pods are to be of the held revision',
      async (c) => {
        const [first = '', , third = '', last = ''] = c.nodes;
        const joined = `${c.namespace}--joined`;
        await c.startRollout('app:v2', {
          annotations: { [recreateKey]: 'held-revision' },
          spec: { revisionHistoryLimit: 0 },
          rollingUpdate: { partition: 2, maxUnavailable: '100%' },
        });
        await c.untilRunning('app:v2', [third, last]);
        assert.equal((await deleteByHand(c, first)).image, 'app:v1', 'a node that the partition keeps');
        assert.equal((await deleteByHand(c, last)).image, 'app:v2', 'no node goes back');
        await setRolling(c, { partition: 3 });
        await c.addNodes([joined]);
        await c.untilRunning('app:v1', [...c.nodes.slice(0, 2), joined]);
        await c.expectNoUpdatesFor(1.5);
        await setRolling(c, { partition: 0 });
        await c.untilComplete('app:v2');
      },
      { nodes: 4, budget: 5 },
    );

    rule(
      'and a node selector keep nothing of new pods by default, and a value that cannot be read holds the rollout',
      async (c) => {
        const [chosen = '', other = ''] = c.nodes;
        await c.api.merge(`/api/v1/nodes/${chosen}`, { metadata: { labels: { tier: 'canary' } } });
        const selector = { matchLabels: { tier: 'canary' } };
        await c.startRollout('app:v2', { rollingUpdate: { selector, maxUnavailable: '100%' } });
        await c.untilRunning('app:v2', [chosen]);
        assert.equal((await deleteByHand(c, other)).image, 'app:v2', 'as OpenKruise does it');
        await c.annotate({ [recreateKey]: 'held-revision' });
        assert.equal((await deleteByHand(c, c.nodes[2])).image, 'app:v1');
        await c.annotate({ [recreateKey]: 'oldest' });
        await c.until('both objects say what is wrong', async () => {
          const said = (await c.condition('Stalled'))?.message ?? '';
          return said.includes(
            `${recreateKey} "oldest" is not a revision for new pods: set it to newest or held-revision.`,
          );
        });
        await c.annotate({ [recreateKey]: null });
        await setRolling(c, { selector: null });
        await c.untilComplete('app:v2');
      },
      { nodes: 3, budget: 3 },
    );

    rule(
      'counts nodes that are updated already first',
      async (c) => {
        await c.startRollout('app:v2', { rollingUpdate: { partition: 2, paused: true } });
        assert.equal((await deleteByHand(c, c.nodes[0])).image, 'app:v2');
        await setRolling(c, { paused: false });
        await c.untilRunning('app:v2', [c.nodes[0] ?? '', c.nodes[3] ?? '']);
        await c.expectNoUpdatesFor(1.5);
        assert.deepEqual(await c.running('app:v1'), c.nodes.slice(1, 3));
      },
      { nodes: 4 },
    );
  },
  { kind: 'advanced' },
);
