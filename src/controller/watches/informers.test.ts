import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonSets } from '../../kube/index.ts';
import type { DaemonRollout } from '../../words/index.ts';
import { daemonRollouts } from '../status/daemon-rollout.ts';
import { NAMESPACE } from '../testing/cluster.ts';
import { testKind } from '../testing/fixtures.ts';
import { scenario } from '../testing/scenario.ts';
import { toRolloutView } from './informers.ts';

const condition = {
  type: 'Ready',
  status: 'True',
  reason: 'Whatever',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
const app = { namespace: NAMESPACE, name: 'app' };

it('a DaemonRollout is cached if a DaemonSet of the kind owns it, in any of its versions', () => {
  const object = (apiVersion: string, kind: string) => ({
    apiVersion: 'edgeset.io/v1alpha1' as const,
    kind: 'DaemonRollout' as const,
    metadata: {
      namespace: 'edge',
      name: 'app.test',
      ownerReferences: [{ apiVersion, kind, name: 'app', uid: 'u', controller: true }],
    },
    status: { conditions: [condition] },
  });
  const view = (rollout: DaemonRollout) =>
    toRolloutView(rollout, { resource: daemonSets, daemonSetOf: (name) => testKind.daemonSetOf(name) });
  assert.deepEqual(view(object('apps/v1', 'DaemonSet')), { daemonSet: 'edge/app', saysManaged: true });
  assert.deepEqual(view(object('apps/v1beta2', 'DaemonSet')), { daemonSet: 'edge/app', saysManaged: true });
  assert.equal(view(object('apps.kruise.io/v1alpha1', 'DaemonSet')), undefined);
  assert.equal(view(object('apps/v1', 'Deployment')), undefined);
  assert.equal(view({ ...object('apps/v1', 'DaemonSet'), metadata: {} }), undefined);
  const left = { namespace: 'edge', labels: { 'app.kubernetes.io/managed-by': 'edgeset-manager' } };
  const orphan = (name: string) => view({ ...object('apps/v1', 'DaemonSet'), metadata: { ...left, name } });
  assert.deepEqual(orphan('app.test'), { daemonSet: 'edge/app', saysManaged: true }, 'it must be removed');
  assert.equal(orphan('app.other'), undefined, 'of another kind');
});

describe('a DaemonSet', () => {
  it(
    'whose last event was lost is known to a new leader, which waits for no list',
    scenario(async ({ settled, clock, cluster, api, deletes }) => {
      const leader = await settled(2, '1');
      await Promise.all([leader.resign(), clock.advance(1_000)]);
      const relists = () => leader.lines.filter((line) => line === 'watch failed').length;
      api.loseEvents(() => cluster.annotate({ 'edgeset.io/paused': 'true' }));
      leader.lead();
      await clock.advance(1_000);
      cluster.setImage('v2');
      await clock.advance(10_000);
      assert.deepEqual(deletes(), []);
      cluster.annotate({ 'edgeset.io/paused': null });
      await clock.advance(20_000);
      assert.deepEqual(cluster.tags(), { n1: 'v2', n2: 'v2' });
      assert.equal(relists(), 0);
    }),
  );

  it(
    'that is deleted with --cascade=orphan leaves no DaemonRollout behind, even if no manager runs at that moment',
    scenario(async ({ settled, manage, clock, api }) => {
      const first = await settled(2, '1');
      const orphan = (): void => {
        api.objects.patch(daemonRollouts, app, { metadata: { ownerReferences: [] } });
        api.objects.remove(daemonSets, app);
      };
      await first.stop();
      orphan();
      await clock.advance(60_000);
      assert.equal(api.objects.all(daemonRollouts).length, 1);
      manage('m2').lead();
      await clock.advance(60_000);
      assert.deepEqual(api.objects.all(daemonRollouts), []);
    }),
  );
});
