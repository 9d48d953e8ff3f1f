import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ControllerRevision, DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { createTestClock } from '../../../test/support/index.ts';
import { controllerRevisions, daemonSets, pods } from '../../kube/index.ts';
import type { DaemonSetView } from '../kind.ts';
import type { KindAdapter } from '../kind-adapter.ts';
import { createTestApi } from '../testing/api.ts';
import { NAMESPACE } from '../testing/cluster.ts';
import { testKind } from '../testing/fixtures.ts';
import { scenario } from '../testing/scenario.ts';
import { rollBack } from './rollback.ts';

const { signal } = new AbortController();
const old = { metadata: { labels: { app: 'app' } }, spec: { containers: [{ name: 'app', image: 'app:v1' }] } };

const prepare = () => {
  const api = createTestApi(createTestClock());
  const set = api.objects.create(daemonSets, {
    metadata: { namespace: 'edge', name: 'app', annotations: { 'apps.openyurt.io/update-strategy': 'auto' } },
    spec: {
      selector: { matchLabels: { app: 'app' } },
      updateStrategy: { type: 'OnDelete' },
      template: { ...old, spec: { containers: [{ name: 'app', image: 'app:v2' }], hostNetwork: true } },
    },
  } as DaemonSet);
  const revision: ControllerRevision = {
    metadata: { namespace: 'edge', name: 'app-v1' },
    revision: 1,
    data: { spec: { template: { ...old, $patch: 'replace' } } },
  };
  api.objects.create(controllerRevisions, revision);
  const view = testKind.toView(set as DaemonSet);
  assert.ok(view);
  const template = () => (api.objects.all(daemonSets)[0] as DaemonSet).spec?.template;
  const restoreTemplate: KindAdapter<DaemonSetView, unknown>['restoreTemplate'] = async (
    { uid, resourceVersion },
    found,
    from,
  ) => {
    const metadata = { uid, resourceVersion, annotations: { 'edgeset.io/rolled-back-from': from } };
    const body = { metadata, spec: { template: { ...found, $patch: 'replace' } } };
    const ref = { namespace: 'edge', name: 'app' };
    return api.client.patch(daemonSets, ref, body, { type: 'strategic' });
  };
  const accepted: unknown[] = [];
  const accept = (daemonSet: DaemonSet | undefined): void => void accepted.push(daemonSet?.spec?.template);
  const options = { client: api.client, adapter: { restoreTemplate }, accept };
  const run = () => rollBack(options, view, 'v2', { name: 'app-v1' }, signal);
  return { api, accepted, template, run };
};

describe('a rollback', () => {
  it('restores the whole older template and records what it replaced', async () => {
    const { api, accepted, template, run } = prepare();
    assert.deepEqual(await run(), { kind: 'done' });
    assert.deepEqual([template(), accepted], [old, [old]]);
    const annotations = api.objects.all(daemonSets)[0]?.metadata?.annotations;
    assert.equal(annotations?.['edgeset.io/rolled-back-from'], 'v2');
    assert.equal(annotations?.['apps.openyurt.io/update-strategy'], 'auto');
  });

  it('does not touch a DaemonSet that was changed, or created again, meanwhile', async () => {
    const { api, template, run } = prepare();
    api.objects.patch(daemonSets, { namespace: 'edge', name: 'app' }, { metadata: { labels: { x: 'y' } } });
    assert.deepEqual(await run(), { kind: 'changed' });
    assert.equal(template()?.spec?.hostNetwork, true);
  });

  it('to a revision that is no longer kept, or has no template, is impossible', async () => {
    const { api, run } = prepare();
    const ref = { namespace: 'edge', name: 'app-v1' };
    api.objects.patch(controllerRevisions, ref, { data: { spec: { template: null } } });
    assert.deepEqual(await run(), { kind: 'impossible' });
    api.objects.remove(controllerRevisions, ref);
    assert.deepEqual(await run(), { kind: 'impossible' });
    assert.equal(api.sent('patch', 'daemonsets').length, 0);
  });

  it('that fails distinguishes a refusal from a missing response', async () => {
    const { api, run } = prepare();
    api.fault('patch', 'daemonsets', { kind: 'refuse', code: 'Forbidden', status: 403 });
    const refused = await run();
    assert.equal(refused.kind === 'failed' && refused.reason, 'Forbidden');
    api.fault('patch', 'daemonsets', { kind: 'lose', happened: true });
    const lost = await run();
    assert.ok(lost.kind === 'failed' && lost.reason === undefined);
    assert.deepEqual(await run(), { kind: 'changed' }, 'it was applied: nothing is done twice');
  });
});

describe('a rollback', () => {
  const failing = {
    'edgeset.io/on-failure': 'rollback',
    'edgeset.io/progress-deadline-seconds': '5',
    'edgeset.io/failure-threshold': '1',
  };

  it(
    'is one patch, and nothing else is decided while the watch is behind',
    scenario(async ({ settled, cluster, api, clock, deletes }) => {
      const manager = await settled(3, '1', failing);
      cluster.setImage('bad2');
      await clock.advance(4_000);
      api.silence('daemonsets');
      await clock.advance(30_000);
      assert.equal(api.sent('patch', 'daemonsets').length, 1);
      assert.equal(deletes().length, 1);
      api.silence('daemonsets', false);
      await clock.advance(30_000);
      assert.deepEqual(cluster.tags(), { n1: 'v1', n2: 'v1', n3: 'v1' });
      assert.equal(api.sent('patch', 'daemonsets').length, 1);
      assert.equal(manager.reasons().filter((reason) => reason === 'RolledBack').length, 1);
      assert.equal(cluster.getSet().metadata?.annotations?.['edgeset.io/rolled-back-from'], 'bad2');
    }),
  );

  it(
    'is not made for a DaemonSet that was changed meanwhile',
    scenario(async ({ settled, cluster, api, clock }) => {
      await settled(3, '1', failing);
      const patch = api.fault('patch', 'daemonsets', { kind: 'hold' });
      cluster.setImage('bad2');
      await clock.advance(10_000);
      assert.equal(patch.fired, 1);
      cluster.setImage('v3');
      patch.release();
      await clock.advance(40_000);
      assert.deepEqual(cluster.tags(), { n1: 'v3', n2: 'v3', n3: 'v3' });
    }),
  );

  it(
    'happens under the strategy ota too: it announces the previous revision, and deletes nothing',
    scenario(async ({ settled, cluster, api, clock, condition, deletes, status }) => {
      await settled(2, '1', { ...failing, 'apps.openyurt.io/update-strategy': 'ota' });
      cluster.setImage('bad2');
      await clock.advance(2_000);
      api.objects.delete(pods, { namespace: NAMESPACE, name: cluster.podOn('n1')?.metadata?.name ?? '' });
      await clock.advance(60_000);
      assert.equal(deletes().length, 0);
      assert.equal(api.sent('patch', 'daemonsets').length, 1);
      assert.equal(cluster.tagOf(cluster.getSet()), 'v1');
      assert.equal(condition('Ready')?.reason, 'OwnerDecides');
      assert.match(condition('Ready')?.message ?? '', /owner of each device decides/);
      assert.equal(status().summary, 'Waiting for 1 owner');
      assert.deepEqual(status().owners, { asked: 1, nodes: ['n1'] });
    }),
  );
});
