import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scenario } from '../testing/scenario.ts';

describe('the history of a DaemonSet', () => {
  it(
    'has one entry for a rollout whose first status was written, and the response lost',
    scenario(async ({ settled, beforeReservation, api, clock, status }) => {
      await settled(2, '1');
      await beforeReservation('v2');
      const write = api.fault('replace', 'daemonrollouts', { kind: 'lose', happened: true });
      await clock.advance(30_000);
      assert.equal(write.fired, 1);
      assert.deepEqual(
        status().history?.map(({ rollout, result, nodes }) => [rollout, result, nodes]),
        [
          [2, 'Complete', 2],
          [1, 'Complete', 0],
        ],
      );
    }),
  );

  it(
    'has the entry of a rollout that began while nobody led',
    scenario(async ({ settled, manage, cluster, clock, status }) => {
      const first = await settled(2, '1');
      await first.stop();
      cluster.setImage('v2');
      await clock.advance(60_000);
      manage('m2').lead();
      await clock.advance(30_000);
      assert.deepEqual(
        status().history?.map(({ from, to }) => [from?.images, to.images]),
        [
          [['app:v1'], ['app:v2']],
          [undefined, ['app:v1']],
        ],
      );
    }),
  );

  it(
    'costs no write at rest, and keeps the first time at which every node had the target',
    scenario(async ({ settled, cluster, api, clock, status }) => {
      await settled(2, '1');
      cluster.setNodeReady('n2', false);
      cluster.setImage('v2');
      await clock.advance(30_000);
      assert.equal(status().history?.[0]?.result, 'Complete');
      assert.equal(status().allNodesUpdatedAt, undefined);
      cluster.setNodeReady('n2', true);
      await clock.advance(60_000);
      const at = status().allNodesUpdatedAt;
      assert.ok(at);
      assert.equal(status().history?.[0]?.allNodesUpdatedAt, at);
      const before = api.calls.length;
      await clock.advance(600_000);
      assert.equal(api.calls.length, before);
      cluster.setNodeReady('n2', false);
      await clock.advance(60_000);
      cluster.setNodeReady('n2', true);
      await clock.advance(60_000);
      assert.equal(status().allNodesUpdatedAt, at);
      assert.equal(status().history?.[0]?.nodes, 2);
    }),
  );
});
