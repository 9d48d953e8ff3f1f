import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pods } from '../kube/index.ts';
import { everywhere, patches, said } from './testing/said.ts';
import { scene } from './testing/scene.ts';
import { NAMESPACE } from './testing/world.ts';

const ota = { 'apps.openyurt.io/update-strategy': 'ota' };

describe('the condition PodNeedUpgrade, on a watch that is behind', () => {
  it(
    'is asked for, not written again, when the answer was lost and the watch is behind',
    scene(async (s) => {
      const { settled, world, clock, api } = s;
      await settled(2, '1', ota);
      api.silence('pods');
      api.fault('patch', 'pods', { kind: 'lose', happened: true });
      api.fault('patch', 'pods', { kind: 'lose', happened: false });
      world.setImage('v2');
      await clock.advance(20_000);
      assert.deepEqual(said(s), everywhere('True NewRevision v2', 2));
      assert.equal(patches(s), 5, 'one more than two a revision: for the one that never arrived');
      api.silence('pods', false);
      await clock.advance(20_000);
      assert.equal(patches(s), 5);
    }),
  );

  it(
    'is not written again for what another writer changes on the pod, told by the watch or not yet',
    scene(async (s) => {
      const { settled, world, clock, api } = s;
      await settled(2, '1', ota);
      const report = (node: string, reason: string): void => {
        const name = world.podOn(node)?.metadata?.name ?? '';
        const condition = { type: 'PodImageReady', status: 'False', reason, message: 'controllerrevision: v2' };
        api.objects.patch(pods, { namespace: NAMESPACE, name }, { status: { conditions: [condition] } });
      };
      for (const silent of [false, true]) {
        api.silence('pods', silent);
        world.setImage(silent ? 'v3' : 'v2');
        // Before the patch is sent, on its way, and after its answer.
        for (const reason of ['A', 'B', 'C', 'D', 'E', 'F']) {
          for (const node of ['n1', 'n2']) report(node, `${reason}${silent}`);
          await clock.advance(reason < 'D' ? 1 : 2_000);
        }
        assert.equal(patches(s), silent ? 6 : 4);
      }
      api.silence('pods', false);
      await clock.advance(20_000);
      assert.equal(patches(s), 6);
      assert.deepEqual(said(s), everywhere('True NewRevision v3', 2));
    }),
  );
});
