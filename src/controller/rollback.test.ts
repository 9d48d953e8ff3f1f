import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ControllerRevision, DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { createTestClock } from '../../test/support/index.ts';
import { controllerRevisions, daemonSets } from '../kube/index.ts';
import type { DaemonSetView } from './kind.ts';
import type { KindAdapter } from './kind-adapter.ts';
import { rollBack } from './rollback.ts';
import { createTestApi } from './testing/api.ts';
import { testKind } from './testing/kind.ts';

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
    return (await api.client.patch(daemonSets, ref, body, { type: 'strategic' })).metadata?.resourceVersion ?? '';
  };
  const run = () => rollBack(api.client, { restoreTemplate }, view, 'v2', { name: 'app-v1' }, signal);
  return { api, view, template, run };
};

describe('a rollback', () => {
  it('puts the whole older template back and says what it took away', async () => {
    const { api, template, run } = prepare();
    const outcome = await run();
    assert.ok(outcome.kind === 'done' && outcome.resourceVersion === String(api.objects.version));
    assert.deepEqual(template(), old);
    const annotations = api.objects.all(daemonSets)[0]?.metadata?.annotations;
    assert.equal(annotations?.['edgeset.io/rolled-back-from'], 'v2');
    assert.equal(annotations?.['apps.openyurt.io/update-strategy'], 'auto');
  });

  it('does not touch a DaemonSet that was changed, or made again, meanwhile', async () => {
    const { api, template, run } = prepare();
    api.objects.patch(daemonSets, { namespace: 'edge', name: 'app' }, { metadata: { labels: { x: 'y' } } });
    assert.deepEqual(await run(), { kind: 'changed' });
    assert.equal(template()?.spec?.hostNetwork, true);
  });

  it('to a revision that is no longer kept, or that holds no template, is impossible', async () => {
    const { api, run } = prepare();
    const ref = { namespace: 'edge', name: 'app-v1' };
    api.objects.patch(controllerRevisions, ref, { data: { spec: { template: null } } });
    assert.deepEqual(await run(), { kind: 'impossible' });
    api.objects.remove(controllerRevisions, ref);
    assert.deepEqual(await run(), { kind: 'impossible' });
    assert.equal(api.sent('patch', 'daemonsets').length, 0);
  });

  it('that fails tells a refusal from an answer that did not come', async () => {
    const { api, run } = prepare();
    api.fault('patch', 'daemonsets', { kind: 'refuse', code: 'Forbidden', status: 403 });
    const refused = await run();
    assert.equal(refused.kind === 'failed' && refused.reason, 'Forbidden');
    api.fault('patch', 'daemonsets', { kind: 'lose', happened: true });
    const lost = await run();
    assert.ok(lost.kind === 'failed' && lost.reason === undefined);
    assert.deepEqual(await run(), { kind: 'changed' }, 'it had happened: nothing is done twice');
  });
});
