import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pods } from '../kube/index.ts';
import { everywhere, said } from './testing/said.ts';
import { scene } from './testing/scene.ts';
import { NAMESPACE } from './testing/world.ts';

const STRATEGY = 'apps.openyurt.io/update-strategy';

describe('an answer that comes after its pod has gone', () => {
  it(
    'to an announcement does not bring the pod back to life',
    scene(async (s) => {
      const { settled, world, clock, api, condition, status } = s;
      await settled(2, '1', { [STRATEGY]: 'ota' });
      const name = world.podOn('n1')?.metadata?.name ?? '';
      const late = api.fault('patch', 'pods', { kind: 'late' }, { name });
      world.setImage('v2');
      await clock.advance(1_000);
      // Its owner updates as soon as he may, and the new pod is there before the answer.
      api.objects.remove(pods, { namespace: NAMESPACE, name });
      await clock.advance(5_000);
      late.release();
      await clock.advance(10_000);
      assert.deepEqual(said(s), { ...everywhere('True NewRevision v2', 2), n1: 'False UpToDate v2' });
      assert.equal(status().nodes?.updated, 1);
      api.objects.delete(pods, { namespace: NAMESPACE, name: world.podOn('n2')?.metadata?.name ?? '' });
      await clock.advance(10_000);
      assert.equal(condition('Complete')?.status, 'True');
    }),
  );

  it(
    'to a fence does not bring the pod back to life',
    scene(async (s) => {
      const { settled, world, clock, api, condition } = s;
      await settled(2, '1');
      const name = world.podOn('n1')?.metadata?.name ?? '';
      api.fault('delete', 'pods', { kind: 'lose', happened: false }, { name });
      const late = api.fault('patch', 'pods', { kind: 'late' }, { name });
      await s.beforeWave('v2');
      await clock.advance(200);
      world.annotate({ 'edgeset.io/paused': 'true' });
      await clock.advance(5_000);
      api.objects.remove(pods, { namespace: NAMESPACE, name });
      await clock.advance(1_000);
      late.release();
      await clock.advance(5_000);
      world.annotate({ 'edgeset.io/paused': null });
      await clock.advance(60_000);
      assert.equal(condition('Complete')?.status, 'True');
    }),
  );
});
