import assert from 'node:assert/strict';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { inOrder } from '../../judge/audit/records.ts';
import { type Case, section } from '../kit/index.ts';
import { firstActed, setRolling, starting } from './strategy.ts';

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false;

/** What was written of the case's pods, in the order of the writes. */
const podsWritten = async (c: Case): Promise<{ pod: Pod; at: number }[]> =>
  inOrder(await c.cluster.audit.read()).flatMap(({ namespace, resource, response, answeredAt }) => {
    const pod = response as Pod & { kind?: string };
    return namespace === c.namespace && resource.startsWith('pods') && pod.kind === 'Pod'
      ? [{ pod, at: answeredAt }]
      : [];
  });

/** Fails when a node was without a ready pod at any time since. */
const assertNoGap = async (c: Case, since: number): Promise<void> => {
  const ready = new Map<string, Set<string>>();
  for (const { pod, at } of await podsWritten(c)) {
    const { uid = '', deletionTimestamp } = pod.metadata ?? {};
    const node = pod.spec?.nodeName ?? '';
    if (node === '') continue;
    const those = ready.get(node) ?? new Set();
    if (isReady(pod) && deletionTimestamp === undefined) those.add(uid);
    else those.delete(uid);
    ready.set(node, those);
    assert.ok(at < since || those.size > 0, `${node} was without a ready pod at ${new Date(at).toISOString()}`);
  }
};

/** The largest number of surplus pods at one time. */
const mostExtra = async (c: Case): Promise<number> => {
  const live = new Set<string>();
  let most = 0;
  for (const { pod } of await podsWritten(c)) {
    const { uid = '', deletionTimestamp } = pod.metadata ?? {};
    if (deletionTimestamp === undefined) live.add(uid);
    else live.delete(uid);
    most = Math.max(most, live.size - c.nodes.length);
  }
  return most;
};

export const surge = section(
  'Surge',
  (rule) => {
    for (const version of ['v1alpha1', 'v1beta1'] as const)
      rule(
        `Surging (${version}) is a surge of one, is returned as written, and leaves no node without a ready pod`,
        async (c) => {
          await c.rolledOut({ version, rollingUpdate: { rollingUpdateType: 'Surging' } });
          const since = Date.now();
          await c.bringTo('app:v2');
          await assertNoGap(c, since);
          assert.equal(await mostExtra(c), 1);
          const { rollingUpdate } = (await c.advanced()).spec.updateStrategy ?? {};
          const { rollingUpdateType, maxSurge, maxUnavailable } = rollingUpdate ?? {};
          assert.deepEqual([rollingUpdateType, maxSurge, maxUnavailable], ['Surging', undefined, undefined]);
          assert.equal((await c.podWrites('surge')).length, 3);
        },
      );

    for (const [maxSurge, nodes, size] of [
      [2, 4, 2],
      ['34%', 3, 2],
    ] as const)
      rule(
        `maxSurge ${maxSurge} of ${nodes} nodes is ${size} at a time`,
        async (c) => {
          await c.rolledOut({ ...starting(1000), rollingUpdate: { maxSurge } });
          const since = Date.now();
          await c.bringTo('app:v2');
          await assertNoGap(c, since);
          assert.equal(await mostExtra(c), size);
        },
        { nodes },
      );

    rule(
      'a node with an unavailable old pod is updated first, and the old pod is deleted immediately',
      async (c) => {
        const [broken = ''] = c.nodes;
        await c.rolledOut({ ...starting(6000), rollingUpdate: { maxSurge: 1 } });
        await c.breakPod(broken);
        await c.setImage('app:v2');
        await c.untilRunning('app:v2');
        assert.deepEqual(await firstActed(c, 1), [broken]);
        const [begun] = await c.podWrites('surge');
        const [gone] = await c.podWrites('delete-surged-out');
        assert.equal(gone?.node, broken);
        const waited = (gone?.record.receivedAt ?? 0) - (begun?.record.receivedAt ?? 0);
        assert.ok(waited < 5_500, `it went ${waited} ms after the new one came, when that was ready`);
      },
      { nodes: 3 },
    );

    rule('a new version that never works does not delete the old one, and is replaced by the next', async (c) => {
      await c.rolledOut({
        rollingUpdate: { maxSurge: 1 },
        annotations: { 'edgeset.io/progress-deadline-seconds': '3' },
      });
      const since = Date.now();
      await c.setImage('app:v2--never-ready');
      await c.untilCondition('Halted');
      await c.expectNoUpdatesFor(1);
      assert.deepEqual(await c.running('app:v1'), c.nodes);
      await c.bringTo('app:v3');
      await assertNoGap(c, since);
    });

    rule('after a template change midway the intermediate pod is deleted, and no node has three pods', async (c) => {
      await c.rolledOut({ ...starting(2000), rollingUpdate: { maxSurge: 1 } });
      const since = Date.now();
      await c.setImage('app:v2');
      await c.until('a new one is beside an old one', async () => (await c.podWrites('surge')).length === 1);
      await c.bringTo('app:v3');
      await assertNoGap(c, since);
    });

    rule(
      'an offline node blocks no other, and neither does one that goes offline midway',
      async (c) => {
        const [away = ''] = c.nodes;
        await c.rolledOut({ ...starting(1500), rollingUpdate: { maxSurge: 1 } });
        await c.cluster.offline([away]);
        await c.setImage('app:v2');
        await c.until('a surge', async () => (await c.podWrites('surge')).length === 1);
        const [midway = ''] = await c.updatedNodes();
        await c.cluster.offline([midway]);
        const others = c.nodes.filter((name) => name !== away && name !== midway);
        await c.untilRunning('app:v2', others);
        await c.cluster.online([away, midway]);
        await c.untilComplete('app:v2');
      },
      { nodes: 4 },
    );

    rule(
      'the strategy can change midway, to a surge and back',
      async (c) => {
        await c.startRollout('app:v2', starting(1200));
        await c.untilUpdates(1);
        await setRolling(c, { maxUnavailable: 0, maxSurge: 1 });
        await c.until('a surge', async () => (await c.podWrites('surge')).length >= 1);
        await setRolling(c, { maxUnavailable: 1, maxSurge: 0 });
        await c.untilComplete('app:v2');
        assert.equal((await c.updates()).length, 5, 'once a node');
        assert.ok((await c.podWrites('delete')).length >= 2);
      },
      { nodes: 5 },
    );

    rule(
      'with a partition and minReadySeconds, the old pod is deleted once the new one has been ready for that time',
      async (c) => {
        await c.startRollout('app:v2', { minReadySeconds: 2, rollingUpdate: { maxSurge: '100%', partition: 1 } });
        const retired = await c.until('two went', async () => {
          const steps = await c.podWrites('delete-surged-out');
          return steps.length === 2 && steps;
        });
        for (const { node, record } of retired) {
          const since = Date.parse(
            (await c.pods())
              .find((pod) => pod.node === node && pod.image === 'app:v2')
              ?.object.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '',
          );
          assert.ok(record.receivedAt - since >= 2_000, `${record.receivedAt - since} ms`);
        }
        await c.expectNoUpdatesFor(1);
        assert.equal((await c.podOn(c.nodes[0])).image, 'app:v1');
      },
    );
  },
  { kind: 'advanced' },
);
