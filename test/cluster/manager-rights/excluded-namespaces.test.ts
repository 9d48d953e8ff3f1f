// DaemonSets in a namespace that the policy excludes, as those of CNI plugins are by default.

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

test('they are left alone and say why, and go on once the namespace is included', async () => {
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
