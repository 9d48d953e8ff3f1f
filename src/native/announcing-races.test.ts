import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pods } from '../kube/index.ts';
import { everywhere, said } from './testing/said.ts';
import { scene } from './testing/scene.ts';
import { NAMESPACE } from './testing/world.ts';

const STRATEGY = 'apps.openyurt.io/update-strategy';
const ota = { [STRATEGY]: 'ota' };

describe('announcements that are under way', () => {
  for (const [what, kind] of [
    ['requests', 'hold'],
    ['answers', 'late'],
  ] as const)
    it(
      `when the user resumes do not leave a pod halted: ${what} that are late`,
      scene(async (s) => {
        const { settled, world, clock, api } = s;
        await settled(6, '1', {
          ...ota,
          'edgeset.io/failure-threshold': '2',
          'edgeset.io/progress-deadline-seconds': '30',
        });
        world.setImage('bad2');
        await clock.advance(5_000);
        for (const node of ['n1', 'n2'])
          api.objects.delete(pods, { namespace: NAMESPACE, name: world.podOn(node)?.metadata?.name ?? '' });
        await clock.advance(20_000);
        const slow = api.fault('patch', 'pods', { kind }, { times: 4 });
        await clock.advance(27_000);
        assert.equal(slow.fired, 4, 'Halted is on its way');
        world.annotate({ 'edgeset.io/resume': 'bad2' });
        await clock.advance(3_000);
        slow.release();
        await clock.advance(60_000);
        const current = { n1: 'False UpToDate bad2', n2: 'False UpToDate bad2' };
        assert.deepEqual(said(s), {
          ...everywhere('True NewRevision bad2', 6),
          ...current,
        });
      }),
    );

  it(
    'from a leader that slept for half a minute are put right by its successor',
    scene(async (s) => {
      const { settled, world, clock, api, manage } = s;
      const first = await settled(4, '1', ota);
      const asleep = api.fault('patch', 'pods', { kind: 'hold' }, { times: 4 });
      world.setImage('v2');
      await clock.advance(500);
      manage('m2').lead();
      world.setImage('v1');
      await clock.advance(30_000);
      asleep.release();
      await clock.advance(1_000);
      await first.stop();
      await clock.advance(30_000);
      assert.deepEqual(said(s), everywhere('False UpToDate v1', 4));
    }),
  );
});
