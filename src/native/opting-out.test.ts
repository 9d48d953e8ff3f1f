import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonRollouts } from '../controller/index.ts';
import { daemonSets } from '../kube/index.ts';
import { scene } from './testing/scene.ts';
import { NAMESPACE } from './testing/world.ts';

const OPT_OUT = { 'apps.openyurt.io/update-strategy': null };
const OPT_IN = { 'apps.openyurt.io/update-strategy': 'auto' };
const app = { namespace: NAMESPACE, name: 'app' };

describe('a DaemonSet that opts out', () => {
  it(
    'is left alone at once, and its rollout object says that nobody looks after it',
    scene(async ({ settled, clock, world, api, deletes, status, condition, requests, mostDown }) => {
      await settled(3, '1');
      world.setImage('v2');
      await clock.advance(500);
      assert.equal(deletes().length, 1);
      const { reservations, lastComplete, rollout } = status();
      assert.equal(reservations?.length, 1);
      world.annotate(OPT_OUT);
      await clock.advance(1_000);
      assert.equal(status().summary, 'Not managed');
      assert.equal(condition('Ready')?.status, 'Unknown');
      assert.equal(condition('Ready')?.reason, 'NotManaged');
      assert.equal(condition('Reconciling')?.status, 'False');
      assert.equal(status().nodes, undefined);
      assert.deepEqual([status().lastComplete, status().rollout], [lastComplete, rollout]);
      assert.equal(status().reservations?.length, 1, 'the slot is known to whoever comes next');
      const since = clock.now();
      await clock.advance(600_000);
      assert.deepEqual(requests(since), [], 'nothing else is written or asked');
      assert.equal(deletes().length, 1);
      world.annotate(OPT_IN);
      await clock.advance(20_000);
      assert.deepEqual(world.tags(), { n1: 'v2', n2: 'v2', n3: 'v2' });
      assert.equal(mostDown(), 1);
      assert.equal(condition('Complete')?.status, 'True');
      assert.equal(api.sent('delete', 'pods').length, 3);
    }),
  );

  it(
    'gives up what is in the air: it is not sent again, and its slot holds until its fate is known',
    scene(async ({ settled, beforeWave, clock, world, api, deletes, open, mostDown }) => {
      await settled(2, '1');
      await beforeWave('v2');
      const held = api.fault('delete', 'pods', { kind: 'hold' });
      await clock.advance(10);
      assert.equal(held.abandoned, 0);
      world.annotate(OPT_OUT);
      await clock.advance(10);
      assert.equal(held.abandoned, 1, 'nobody waits for an answer, and what waits to be sent is not');
      await clock.advance(30_000);
      assert.equal(deletes().length, 1);
      assert.deepEqual(open(), ['n1']);
      world.annotate({ ...OPT_IN, 'edgeset.io/partition': '0' });
      await clock.advance(5);
      held.release();
      await clock.advance(20_000);
      assert.deepEqual(world.tags(), { n1: 'v2', n2: 'v2' });
      assert.equal(mostDown(), 1);
      assert.deepEqual(open(), []);
    }),
  );

  it(
    'while nobody runs is found at the start',
    scene(async ({ settled, manage, clock, world, status, requests }) => {
      const first = await settled(2, '1');
      await first.stop();
      world.annotate(OPT_OUT);
      manage('m2').lead();
      await clock.advance(1_000);
      assert.equal(status().summary, 'Not managed');
      const since = clock.now();
      await clock.advance(600_000);
      assert.deepEqual(requests(since), []);
    }),
  );

  it(
    'is not written about by a process that does not lead',
    scene(async ({ settled, manage, clock, world, status }) => {
      const first = await settled(2, '1');
      await first.stop();
      manage('m2');
      world.annotate(OPT_OUT);
      await clock.advance(60_000);
      assert.notEqual(status().summary, 'Not managed');
    }),
  );

  it(
    'is told again when the write about it fails',
    scene(async ({ settled, clock, world, api, status }) => {
      await settled(2, '1');
      api.fault('replace', 'daemonrollouts', { kind: 'refuse', code: 'ServiceUnavailable', status: 503 }, { times: 3 });
      world.annotate(OPT_OUT);
      await clock.advance(10_000);
      assert.equal(status().summary, 'Not managed');
    }),
  );

  it(
    'by being deleted has nothing written any more',
    scene(async ({ settled, clock, api, status }) => {
      await settled(2, '1');
      const before = status();
      api.objects.remove(daemonSets, app);
      await clock.advance(60_000);
      assert.deepEqual(status(), before);
      api.objects.remove(daemonRollouts, app);
      await clock.advance(60_000);
      assert.equal(api.sent('create', 'daemonrollouts').length, 1);
    }),
  );
});
