// What docs/how-to/disaster-recovery.md promises of a manager that was gone for a long time.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pods } from '../../kube/index.ts';
import { NAMESPACE } from '../testing/cluster.ts';
import { type Scenario, scenario } from '../testing/scenario.ts';

const MONTH_MS = 30 * 86_400_000;
const everywhere = (tag: string): Record<string, string> => ({ n1: tag, n2: tag, n3: tag, n4: tag });

/** Four nodes, and a manager that stopped as soon as the first of them was being updated to this version. */
const abandonedUpdate = async (parts: Scenario, tag: string): Promise<void> => {
  const { settled, cluster, clock, deletes } = parts;
  const manager = await settled(4, '1');
  cluster.setImage(tag);
  await clock.advance(500);
  assert.equal(deletes().length, 1);
  await manager.stop();
};

const sendAway = ({ cluster, clock }: Scenario, nodes: readonly string[], ready: boolean): Promise<void> => {
  for (const node of nodes) cluster.setNodeReady(node, ready);
  return clock.advance(1_000);
};

describe('after a month without a manager', () => {
  it(
    'the template of now is rolled out within the budget, and the versions in between are skipped',
    scenario(async (parts) => {
      const { cluster, clock, api, manage, deletes, mostDown, condition, down } = parts;
      await abandonedUpdate(parts, 'v2');
      await clock.advance(MONTH_MS / 2);
      for (const tag of ['v3', 'v4', 'v5']) {
        cluster.setImage(tag);
        await clock.advance(1_000);
      }
      // The native controller replaces what dies with the newest template.
      const died = cluster.podOn('n3')?.metadata?.name ?? '';
      api.objects.remove(pods, { namespace: NAMESPACE, name: died });
      await sendAway(parts, ['n4'], false);
      await clock.advance(MONTH_MS / 2);
      assert.deepEqual(cluster.tags(), { n1: 'v1', n2: 'v2', n3: 'v5', n4: 'v1' });
      assert.equal(down(), 0);

      manage('m2').lead();
      await clock.advance(30_000);
      assert.deepEqual(cluster.tags(), { ...everywhere('v5'), n4: 'v1' });
      assert.deepEqual(
        deletes().map(({ body }) => (body as { uid?: string }).uid !== undefined),
        [true, true, true],
        'n2 was updated twice, n1 once, and n3 had the template already',
      );
      assert.equal(mostDown(), 1);
      assert.equal(condition('Complete')?.status, 'True');

      await sendAway(parts, ['n4'], true);
      await clock.advance(30_000);
      assert.deepEqual(cluster.tags(), everywhere('v5'));
    }),
  );

  it(
    'nodes that are down count against the budget before the first update',
    scenario(async (parts) => {
      const { settled, cluster, clock, manage, deletes } = parts;
      const manager = await settled(4, '1');
      await manager.stop();
      cluster.setPodReady(cluster.podOn('n4')?.metadata?.name ?? '', false);
      cluster.setImage('v2');
      await clock.advance(MONTH_MS);
      manage('m2').lead();
      await clock.advance(60_000);
      const [first] = deletes();
      assert.equal(first?.name, 'app-4', 'the node that is down anyway comes first');
      assert.deepEqual(cluster.tags(), everywhere('v2'));
    }),
  );

  it(
    'a version that was halted stays halted',
    scenario(async (parts) => {
      const { settled, cluster, clock, manage, condition, deletes } = parts;
      const manager = await settled(4, '1', { 'edgeset.io/failure-threshold': '1' });
      cluster.setImage('bad');
      await clock.advance(700_000);
      assert.equal(condition('Halted')?.status, 'True');
      await manager.stop();
      await clock.advance(MONTH_MS);
      manage('m2').lead();
      await clock.advance(60_000);
      assert.equal(condition('Halted')?.status, 'True');
      assert.equal(deletes().length, 1);
    }),
  );

  it(
    'an update whose pod never became available has failed: its deadline continued',
    scenario(async (parts) => {
      const { cluster, clock, manage, status, condition, deletes } = parts;
      await abandonedUpdate(parts, 'bad');
      cluster.annotate({ 'edgeset.io/failure-threshold': '1' });
      await clock.advance(MONTH_MS);
      manage('m2').lead();
      await clock.advance(5_000);
      assert.equal(status().nodes?.failed, 1);
      assert.equal(condition('Halted')?.status, 'True');
      assert.equal(deletes().length, 1);
    }),
  );

  it(
    'a pause holds from the first moment',
    scenario(async (parts) => {
      const { settled, cluster, clock, manage, deletes } = parts;
      const manager = await settled(4, '2');
      await manager.stop();
      cluster.setImage('v2');
      cluster.annotate({ 'edgeset.io/paused': 'true' });
      await clock.advance(MONTH_MS);
      manage('m2').lead();
      await clock.advance(60_000);
      assert.equal(deletes().length, 0);
      cluster.annotate({ 'edgeset.io/paused': null });
      await clock.advance(30_000);
      assert.deepEqual(cluster.tags(), everywhere('v2'));
    }),
  );
});
