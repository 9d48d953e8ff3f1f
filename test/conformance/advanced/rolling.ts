import assert from 'node:assert/strict';
import { section } from '../kit/index.ts';
import { deleteByHand, firstActed, setRolling, starting, untilWaveOf } from './strategy.ts';

const deadline = (seconds: number) => ({ 'edgeset.io/progress-deadline-seconds': String(seconds) });

export const rolling = section(
  'Rolling update',
  (rule) => {
    for (const [maxUnavailable, nodes, size] of [
      [undefined, 3, 1],
      [2, 4, 2],
      ['34%', 3, 2],
    ] as const)
      rule(
        maxUnavailable === undefined
          ? 'one node at a time by default'
          : `maxUnavailable ${maxUnavailable} of ${nodes} nodes is ${size} at a time`,
        async (c) => {
          await c.startRollout('app:v2', {
            ...starting(1500),
            ...(maxUnavailable && { rollingUpdate: { maxUnavailable } }),
          });
          await untilWaveOf(c, size, 1_200);
          await c.untilComplete('app:v2');
          assert.equal((await c.updates()).length, nodes);
        },
        { nodes },
      );

    rule(
      'a percentage counts all eligible nodes, including offline ones, and offline nodes never block',
      async (c) => {
        const [away = '', ...others] = c.nodes;
        await c.rolledOut({ ...starting(1500), rollingUpdate: { maxUnavailable: '50%' } });
        await c.cluster.offline([away]);
        await c.setImage('app:v2');
        await untilWaveOf(c, 3, 1_200);
        await c.untilComplete('app:v2', others);
        assert.equal((await c.status()).nodes?.offlineOutdated, 1);
        await c.cluster.online([away]);
        await c.untilComplete('app:v2');
      },
      { nodes: 5 },
    );

    rule('a node that goes offline while its new pod starts blocks no other', async (c) => {
      await c.startRollout('app:v2', starting(2500));
      await c.untilUpdates(1);
      const [away = ''] = await c.updatedNodes();
      await c.until('the new pod is there', async () => (await c.podOn(away)).image === 'app:v2');
      await c.cluster.offline([away]);
      await c.untilRunning(
        'app:v2',
        c.nodes.filter((name) => name !== away),
      );
      await c.cluster.online([away]);
      await c.untilComplete('app:v2');
      assert.equal((await c.updates()).length, 3, 'once a node');
    });

    rule(
      'a node that has come back is not updated for the settle time',
      async (c) => {
        const [away = '', other = ''] = c.nodes;
        await c.rolledOut({ annotations: { 'edgeset.io/settle-seconds': '5' } });
        await c.cluster.offline([away]);
        await c.setImage('app:v2');
        await c.untilRunning('app:v2', [other]);
        await c.cluster.online([away]);
        await c.until('it is settling', async () => (await c.status()).nodes?.settling === 1);
        await c.untilRunning('app:v2');
      },
      { nodes: 2 },
    );

    for (const [who, rollingUpdate] of [
      ['the partition leaves out', { partition: 1 }],
      ['the selector leaves out', { selector: { matchLabels: { ring: 'inner' } } }],
    ] as const)
      rule(`nodes that ${who} count when they are down`, async (c) => {
        const [outer = '', ...inner] = c.nodes;
        for (const name of inner)
          await c.api.merge(`/api/v1/nodes/${name}`, { metadata: { labels: { ring: 'inner' } } });
        await c.rolledOut({ rollingUpdate });
        await c.breakPod(outer);
        await c.setImage('app:v2');
        await c.until('the target is known', async () => (await c.status()).nodes?.outdated === 2);
        await c.expectNoUpdatesFor(2);
        await c.api.merge(`/api/v1/namespaces/${c.namespace}/pods/${(await c.podOn(outer)).name}`, {
          metadata: { annotations: { 'sim.edgeset.io/behaviour': null } },
        });
        await c.untilRunning('app:v2', inner);
        assert.equal((await c.podOn(outer)).image, 'app:v1');
      });

    rule(
      'old pods that are down already are replaced first, even beyond the budget for healthy nodes',
      async (c) => {
        await c.rolledOut();
        const broken = c.nodes.slice(0, 2);
        for (const node of broken) await c.breakPod(node);
        await c.setImage('app:v2');
        await c.untilRunning('app:v2');
        assert.deepEqual(await firstActed(c, 2), broken);
        assert.equal((await c.updates()).length, 4);
      },
      { nodes: 4 },
    );

    rule('a node selector updates only matching nodes, including those that match later', async (c) => {
      const [ring = '', next = ''] = c.nodes;
      const join = (name: string) => c.api.merge(`/api/v1/nodes/${name}`, { metadata: { labels: { ring: 'first' } } });
      await join(ring);
      const selector = { matchExpressions: [{ key: 'ring', operator: 'In', values: ['first'] }] };
      await c.startRollout('app:v2', { rollingUpdate: { selector } });
      await c.untilRunning('app:v2', [ring]);
      await c.expectNoUpdatesFor(1.5);
      assert.deepEqual(await c.running('app:v1'), c.nodes.slice(1));
      await join(next);
      await c.untilRunning('app:v2', [ring, next]);
      await setRolling(c, { selector: null });
      await c.untilRunning('app:v2');
    });

    rule(
      'pausing stops updates midway, while pods are still created and repaired at the current revision',
      async (c) => {
        await c.startRollout('app:v2', starting(1000));
        await c.untilUpdates(1);
        await setRolling(c, { paused: true });
        await c.untilCondition('Paused');
        const [first = ''] = await c.updatedNodes();
        await c.untilRunning('app:v2', [first]);
        const [repaired = '', last = ''] = c.nodes.filter((name) => name !== first);
        assert.equal((await deleteByHand(c, repaired)).image, 'app:v2');
        const added = `${c.namespace}-new`;
        await c.addNodes([added]);
        await c.untilRunning('app:v2', [added]);
        await c.expectNoUpdatesFor(1);
        assert.equal((await c.podOn(last)).image, 'app:v1');
        await setRolling(c, { paused: false });
        await c.untilComplete('app:v2');
        assert.equal((await c.updates()).length, 2);
      },
    );

    rule('OnDelete updates a node when its pod is deleted by hand, and RollingUpdate the rest', async (c) => {
      await c.startRollout('app:v2', { updateStrategy: 'OnDelete' });
      await c.until('the target is known', async () => (await c.status()).nodes?.outdated === 3);
      await c.expectNoUpdatesFor(1.5);
      assert.equal((await deleteByHand(c, c.nodes[1])).image, 'app:v2');
      await c.until('it counts as updated', async () => (await c.advanced()).status?.updatedNumberScheduled === 1);
      await c.expectNoUpdatesFor(1);
      await c.change({ spec: { updateStrategy: { type: 'RollingUpdate' } } });
      await c.untilRunning('app:v2');
      assert.equal((await c.updates()).length, 2);
    });

    rule('minReadySeconds counts as down', async (c) => {
      await c.startRollout('app:v2', { minReadySeconds: 6 });
      await c.untilRunning('app:v2');
      const times = (await c.updates()).map(({ receivedAt }) => receivedAt);
      for (const [index, at] of times.slice(1).entries())
        assert.ok(at - (times[index] ?? 0) >= 6_000, 'an act follows minReadySeconds after the pod before is ready');
      // The condition has whole seconds.
      const completeAt = Date.parse((await c.untilCondition('Complete')).lastTransitionTime);
      assert.ok(completeAt - (times.at(-1) ?? 0) >= 5_000, 'and so does the end of the rollout');
    });

    rule(
      'after a template change midway the rollout continues from its present state, within the budget',
      async (c) => {
        await c.startRollout('app:v2', { ...starting(5000), rollingUpdate: { maxUnavailable: 2 } });
        await c.until('two have pods of it', async () => {
          const fresh = (await c.pods()).filter(({ image }) => image === 'app:v2');
          return fresh.length === 2;
        });
        await c.bringTo('app:v3');
        assert.equal((await c.updates()).length, 6, 'two nodes were on the one in between');
      },
      { nodes: 4 },
    );

    rule(
      'lowering maxUnavailable midway takes effect immediately',
      async (c) => {
        await c.startRollout('app:v2', { ...starting(1500), rollingUpdate: { maxUnavailable: 3 } });
        await c.untilUpdates(3);
        await setRolling(c, { maxUnavailable: 1 });
        await c.untilRunning('app:v2');
        const [fourth, fifth] = (await c.updates()).slice(3).map(({ receivedAt }) => receivedAt);
        assert.ok((fifth ?? 0) - (fourth ?? 0) > 1_200, 'one at a time from then on');
      },
      { nodes: 5 },
    );

    for (const [behaviour, cause, annotations] of [
      ['crash-loop', 'crash-loop', {}],
      ['never-ready', 'deadline', deadline(3)],
    ] as const)
      rule(`a version that is ${behaviour} is halted, and the next one repairs the broken nodes`, async (c) => {
        await c.startRollout(`app:v2--${behaviour}`, { annotations });
        const halted = await c.untilCondition('Halted');
        const [node = ''] = await c.updatedNodes();
        assert.ok(halted.message.includes(node), halted.message);
        assert.deepEqual(
          (await c.status()).failing?.map((failing) => [failing.node, failing.cause]),
          [[node, cause]],
        );
        await c.expectNoUpdatesFor(1);
        await c.bringTo('app:v3');
        assert.equal((await c.updatedNodes())[1], node, 'the broken one comes first');
        assert.equal((await c.updates()).length, 4);
      });

    rule(
      'a version that kills nodes takes down no more nodes than budget plus threshold',
      async (c) => {
        await c.startRollout('app:v2--kills-node', {
          annotations: { 'edgeset.io/failure-threshold': '1' },
          podAnnotations: { 'sim.edgeset.io/die-ms': '300' },
          minReadySeconds: 8,
        });
        await c.until('it waits', async () => (await c.condition('Halted'))?.reason === 'WaitingForSuspects');
        await c.expectNoUpdatesFor(1);
        assert.ok(new Set(await c.updatedNodes()).size <= 2);
      },
      { nodes: 4 },
    );
  },
  { kind: 'advanced' },
);
