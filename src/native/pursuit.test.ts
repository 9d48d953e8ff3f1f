import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pods } from '../kube/index.ts';
import { scene } from './testing/scene.ts';
import { NAMESPACE } from './testing/world.ts';

describe('a rollback', () => {
  const failing = {
    'edgeset.io/on-failure': 'rollback',
    'edgeset.io/progress-deadline-seconds': '5',
    'edgeset.io/failure-threshold': '1',
  };

  it(
    'is one patch, and nothing is decided before the watch has delivered it',
    scene(async ({ settled, world, api, clock, deletes }) => {
      const manager = await settled(3, '1', failing);
      world.setImage('bad2');
      await clock.advance(4_000);
      api.silence('daemonsets');
      await clock.advance(30_000);
      assert.equal(api.sent('patch', 'daemonsets').length, 1);
      assert.equal(deletes().length, 1);
      api.silence('daemonsets', false);
      await clock.advance(30_000);
      assert.deepEqual(world.tags(), { n1: 'v1', n2: 'v1', n3: 'v1' });
      assert.equal(api.sent('patch', 'daemonsets').length, 1);
      assert.equal(manager.reasons().filter((reason) => reason === 'RolledBack').length, 1);
      assert.equal(world.getSet().metadata?.annotations?.['edgeset.io/rolled-back-from'], 'bad2');
    }),
  );

  it(
    'that is refused leaves the rollout halted, says so, and is tried again at a pace',
    scene(async ({ settled, world, api, clock, condition }) => {
      const manager = await settled(3, '1', failing);
      const refused = api.fault(
        'patch',
        'daemonsets',
        { kind: 'refuse', code: 'Forbidden', status: 403 },
        { times: 100 },
      );
      world.setImage('bad2');
      await clock.advance(60_000);
      assert.equal(condition('Halted')?.status, 'True');
      assert.ok(refused.fired >= 3 && refused.fired <= 8, `${refused.fired} tries`);
      assert.equal(manager.reasons().filter((reason) => reason === 'RollbackFailed').length, 1);
      assert.deepEqual(manager.lines, []);
      refused.end();
      await clock.advance(60_000);
      assert.deepEqual(world.tags(), { n1: 'v1', n2: 'v1', n3: 'v1' });
    }),
  );

  it(
    'is not made for a DaemonSet that was changed meanwhile',
    scene(async ({ settled, world, api, clock }) => {
      await settled(3, '1', failing);
      const patch = api.fault('patch', 'daemonsets', { kind: 'hold' });
      world.setImage('bad2');
      await clock.advance(10_000);
      assert.equal(patch.fired, 1);
      world.setImage('v3');
      patch.release();
      await clock.advance(40_000);
      assert.deepEqual(world.tags(), { n1: 'v3', n2: 'v3', n3: 'v3' });
    }),
  );

  it(
    'is made under the strategy ota too: it announces what was before, and deletes nothing',
    scene(async ({ settled, world, api, clock, condition, deletes, status }) => {
      await settled(2, '1', { ...failing, 'apps.openyurt.io/update-strategy': 'ota' });
      world.setImage('bad2');
      await clock.advance(2_000);
      api.objects.delete(pods, { namespace: NAMESPACE, name: world.podOn('n1')?.metadata?.name ?? '' });
      await clock.advance(60_000);
      assert.equal(deletes().length, 0);
      assert.equal(api.sent('patch', 'daemonsets').length, 1);
      assert.equal(world.tagOf(world.getSet()), 'v1');
      assert.equal(condition('Ready')?.reason, 'OwnerDecides');
      assert.match(condition('Ready')?.message ?? '', /owner of each device decides/);
      assert.equal(status().summary, 'Waiting for 1 owner');
      assert.deepEqual(status().owners, { asked: 1, nodes: ['n1'] });
    }),
  );
});
