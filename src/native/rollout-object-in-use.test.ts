import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonRollouts } from '../controller/index.ts';
import { daemonSets, pods } from '../kube/index.ts';
import { scene } from './testing/scene.ts';
import { NAMESPACE } from './testing/world.ts';

describe('the rollout object', () => {
  it(
    'is not written while nothing changes, and at most once a second while things do',
    scene(async ({ settled, world, api, clock, requests, status }) => {
      await settled(3, '1');
      const before = api.calls.length;
      await clock.advance(600_000);
      assert.equal(api.calls.length, before, 'requests at rest');
      world.native.creates = false;
      const since = clock.now();
      // Never in step with the seconds: what is written last must be what is true then.
      for (let round = 0; round < 77; round += 1) {
        world.setPodReady(world.podOn('n2')?.metadata?.name ?? '', round % 2 === 1);
        await clock.advance(130);
      }
      const writes = requests(since).length;
      assert.ok(writes > 4 && writes <= 11, `${writes} requests in 10 s`);
      await clock.advance(2_000);
      assert.equal(status().nodes?.updated, 2);
    }),
  );

  it(
    'that somebody deletes in the middle of a wave is made anew with all its slots',
    scene(async ({ settled, world, api, clock, status, mostDown, deletes }) => {
      await settled(3, '1');
      world.setImage('v2');
      await clock.advance(1_000);
      assert.equal(deletes().length, 1);
      api.objects.remove(daemonRollouts, { namespace: NAMESPACE, name: 'app' });
      await clock.advance(100);
      assert.equal(status().reservations?.length, 1);
      await clock.advance(20_000);
      assert.deepEqual(world.tags(), { n1: 'v2', n2: 'v2', n3: 'v2' });
      assert.equal(mostDown(), 1);
      assert.equal(deletes().length, 3);
    }),
  );

  it(
    'of another DaemonSet stops everything until it is collected, and people are told',
    scene(async ({ settled, world, api, clock, deletes, status }) => {
      const manager = await settled(2, '1');
      const old = status();
      api.objects.remove(daemonSets, { namespace: NAMESPACE, name: 'app' });
      world.createSet({ 'apps.openyurt.io/max-unavailable': '1' }, { tag: 'v2' });
      await clock.advance(60_000);
      assert.equal(deletes().length, 0);
      assert.deepEqual(status(), old);
      assert.equal(manager.reasons().filter((reason) => reason === 'RolloutObjectInTheWay').length, 1);
      assert.deepEqual(manager.lines, []);
      api.objects.remove(daemonRollouts, { namespace: NAMESPACE, name: 'app' });
      await clock.advance(100);
      assert.equal(status().target?.hash, 'v2');
    }),
  );

  it(
    'of an API server that drops the reservations lets nothing be carried out',
    scene(async ({ settled, world, api, clock, deletes }) => {
      await settled(2, '1');
      api.objects.prune('daemonrollouts', (object) => {
        const { reservations: _, ...status } = (object as { status?: { reservations?: unknown } }).status ?? {};
        return { ...object, status };
      });
      world.setImage('v2');
      await clock.advance(20_000);
      assert.equal(deletes().length, 0);
      api.objects.prune('daemonrollouts', undefined);
      await clock.advance(60_000);
      assert.deepEqual(world.tags(), { n1: 'v2', n2: 'v2' });
    }),
  );

  it(
    'of an API server that drops a field which only informs is not written over and over',
    scene(async ({ settled, world, api, clock }) => {
      await settled(2, '1');
      api.objects.prune('daemonrollouts', (object) => {
        const { causes: _, ...status } = (object as { status?: { causes?: unknown } }).status ?? {};
        return { ...object, status };
      });
      world.setImage('v2');
      await clock.advance(30_000);
      assert.deepEqual(world.tags(), { n1: 'v2', n2: 'v2' });
      const before = api.calls.length;
      for (let round = 0; round < 20; round += 1) {
        const ref = { namespace: NAMESPACE, name: world.podOn('n1')?.metadata?.name ?? '' };
        api.objects.patch(pods, ref, { metadata: { annotations: { round: String(round) } } });
        await clock.advance(1_500);
      }
      assert.equal(api.calls.length, before);
    }),
  );
});
