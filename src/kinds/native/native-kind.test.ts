import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { createTestClock } from '../../../test/support/index.ts';
import { createTestApi } from '../../controller/testing/index.ts';
import { daemonSets, isKubeError } from '../../kube/index.ts';
import { nativeKind, restoreTemplate } from './native-kind.ts';
import { toNativeView } from './native-view.ts';

const { signal } = new AbortController();
const old = { metadata: { labels: { app: 'app' } }, spec: { containers: [{ name: 'app', image: 'app:v1' }] } };

const auto = { 'apps.openyurt.io/update-strategy': 'auto' };

const prepare = () => {
  const api = createTestApi(createTestClock());
  const set = api.objects.create(daemonSets, {
    metadata: { namespace: 'edge', name: 'app', annotations: { ...auto, 'edgeset.io/paused': 'true' } },
    spec: {
      selector: { matchLabels: { app: 'app' } },
      updateStrategy: { type: 'OnDelete' },
      template: { ...old, spec: { containers: [{ name: 'app', image: 'app:v2' }], hostNetwork: true } },
    },
  } as DaemonSet);
  const view = toNativeView(set as DaemonSet);
  assert.ok(view);
  const change = { template: old, annotations: { 'edgeset.io/rolled-back-from': 'v2', 'edgeset.io/paused': null } };
  return { api, put: () => restoreTemplate(api.client, view, change, { fieldManager: 'test', signal }) };
};

it('a template is restored as a whole, and annotations are set and removed in the same write', async () => {
  const { api, put } = prepare();
  assert.equal((await put()).metadata?.resourceVersion, String(api.objects.version));
  const [set] = api.objects.all(daemonSets) as DaemonSet[];
  assert.deepEqual(set?.spec?.template, old);
  assert.deepEqual(set?.metadata?.annotations, {
    ...auto,
    'edgeset.io/rolled-back-from': 'v2',
  });
});

it('a template is not restored in a DaemonSet that has changed meanwhile', async () => {
  const { api, put } = prepare();
  api.objects.patch(daemonSets, { namespace: 'edge', name: 'app' }, { metadata: { labels: { x: 'y' } } });
  await assert.rejects(put(), (error) => isKubeError(error, 'Conflict'));
});

it('leaves the DaemonRollouts of Advanced DaemonSets to their own controller', () => {
  assert.equal(nativeKind.daemonSetOf('app'), 'app');
  assert.equal(nativeKind.daemonSetOf('app.v1'), 'app.v1');
  assert.equal(nativeKind.daemonSetOf('app.apps.kruise.io'), undefined);
});
