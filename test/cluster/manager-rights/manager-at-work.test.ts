// What users see of a manager that the policy refuses something.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../../support/index.ts';
import { webIn } from '../helm/installation.ts';
import { kubectl, type RealCluster, startCluster } from '../index.ts';

let cluster: RealCluster;
const run = (...args: string[]): Promise<string> => kubectl(cluster.kubeconfig, ['--namespace=kube-system', ...args]);

before(async () => {
  cluster = await startCluster();
  await cluster.addNodes(['node-1', 'node-2']);
  await kubectl(cluster.kubeconfig, ['create', 'namespace', 'edgeset-system']);
});
after(() => cluster.stop());

const CURE =
  /namespace kube-system is excluded: .* remove it from the chart's value admissionPolicies\.excludedNamespaces, or/;
const says = (what: string, ...args: string[]): Promise<unknown> =>
  eventually(what, async () => CURE.test(await run('get', ...args)), { everyMs: 200 });

test('DaemonSets in an excluded namespace are left alone, say why, and continue once it is included', async () => {
  const manager = await cluster.startManager({ namespace: 'edgeset-system', args: ['--leader-elect=false'] });
  await webIn(cluster, 'kube-system', 'apps.kruise.io/v1beta1').create();
  const stalled = 'jsonpath={.items[*].status.conditions[?(@.type=="Stalled")].message}';
  await says('an Advanced DaemonSet says why it has no pods', 'dro', '-o', stalled);
  await run('delete', 'daemonsets.apps.kruise.io', 'web');

  const native = webIn(cluster, 'kube-system');
  await native.create();
  await native.running('web:v1', 2);
  await native.setImage('web:v2');
  const failed = ['--field-selector=reason=FailedDelete', '-o', 'jsonpath={.items[*].message}'];
  await says('an Event says why no pod is replaced', 'events', ...failed);
  await native.running('web:v1', 2);

  const list = '/spec/matchResources/namespaceSelector/matchExpressions/0/values';
  const included = JSON.stringify([{ op: 'replace', path: list, value: ['edgeset-system'] }]);
  const binding = ['validatingadmissionpolicybinding', 'edgeset-manager-namespaces'];
  await run('patch', ...binding, '--type=json', '-p', included);
  await native.running('web:v2', 2);
  await manager.stop();
});

test('only a pod that a DaemonSet left behind is adopted', async () => {
  const namespace = await cluster.createNamespace('adoption');
  const manager = await cluster.startManager({ namespace, args: ['--leader-elect=false'] });
  const inside = (...args: string[]): Promise<string> => run(`--namespace=${namespace}`, ...args);
  const web = webIn(cluster, namespace, 'apps.kruise.io/v1beta1');
  await web.create();
  await web.running('web:v1', 2);
  const [left = ''] = (await inside('get', 'pods', '-o', 'name')).split('\n');
  const ownerOf = (pod: string): Promise<string> =>
    inside('get', pod, '-o', 'jsonpath={.metadata.ownerReferences[*].name}');
  await inside('patch', left, '--type=merge', '-p', '{"metadata":{"ownerReferences":null}}');
  await eventually('it is adopted', async () => (await ownerOf(left)) === 'web', { everyMs: 200 });

  const overrides = JSON.stringify({ spec: { nodeName: 'node-1' } });
  await inside('run', 'mine', '--image=mine:v1', '--labels=app=web', `--overrides=${overrides}`);
  const failed = ['--field-selector=reason=FailedAdopt', '-o', 'jsonpath={.items[*].message}'];
  await eventually(
    'an Event says why another one is not',
    async () =>
      /Failed to adopt pod mine on node-1.*pinned to its node/s.test(await inside('get', 'events', ...failed)),
    { everyMs: 200 },
  );
  assert.equal(await ownerOf('pod/mine'), '');
  await manager.stop();
});

test('a manager whose watch of nodes is refused updates nothing until it is permitted', async (t) => {
  const namespace = await cluster.createNamespace('blind');
  const link = await cluster.link();
  t.after(() => link.close());
  const manager = await cluster.startManager({ namespace, link, args: ['--leader-elect=false'] });
  const web = webIn(cluster, namespace);
  await web.create();
  await web.running('web:v1', 2);
  const image = ['-o', 'jsonpath={.items[*].spec.containers[0].image}'];
  const imageOn = (node: string): Promise<string> =>
    run(`--namespace=${namespace}`, 'get', 'pods', `--field-selector=spec.nodeName=${node}`, ...image);
  const { api } = cluster.plane;
  const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/edgeset-manager';
  const { rules } = await api.get<{ rules: { resources: string[] }[] }>(role);
  await api.patch(role, { rules: rules.filter(({ resources }) => !resources.includes('nodes')) }, 'merge-patch');
  try {
    link.reset();
    const isRefused = async (): Promise<boolean> => /cannot (list|watch) resource .*nodes/.test(await manager.log());
    await eventually('its watch is refused', isRefused, { everyMs: 200 });
    // By then the watch has been down for longer than it takes to reconnect.
    await cluster.offline(['node-2']);
    await web.setImage('web:v2');
    const isHeld = async (): Promise<boolean> => /a watch is down/.test(await manager.log());
    await eventually('it says so', isHeld, { everyMs: 200 });
    assert.deepEqual([await imageOn('node-1'), await imageOn('node-2')], ['web:v1', 'web:v1']);
  } finally {
    await api.patch(role, { rules }, 'merge-patch');
  }
  await eventually('the rollout continues', async () => (await imageOn('node-1')) === 'web:v2', { everyMs: 200 });
  assert.equal(await imageOn('node-2'), 'web:v1');
  await cluster.online(['node-2']);
  await web.running('web:v2', 2);
  await manager.stop();
});
