// The permissions that the chart gives depend on its values, and suffice: managers run with exactly these.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../../support/index.ts';
import { kubectl, type RealCluster, startCluster } from '../index.ts';
import { chart, createHelm, type Helm, release } from './helm.ts';
import { forbiddenRequests, runInstalled, webIn } from './installation.ts';

let cluster: RealCluster;
let helm: Helm;

const can = async (namespace: string, ...what: string[]): Promise<boolean> => {
  const as = `--as=system:serviceaccount:${namespace}:edgeset-manager`;
  return kubectl(cluster.kubeconfig, ['auth', 'can-i', ...what, as]).then(
    () => true,
    () => false,
  );
};
const install = (name: string, namespace: string, values: object): Promise<string> => {
  const where = ['--namespace', namespace, '--create-namespace', '--wait', '--timeout=120s'];
  return helm('upgrade', '--install', name, chart, ...where, '--set-json', JSON.stringify(values));
};

/** Roles and bindings are in force, or no longer, a moment after they are written. */
const untilMay = (isAllowed: boolean, ...[namespace, ...what]: Parameters<typeof can>): Promise<unknown> =>
  eventually(
    `the manager of ${namespace} may ${isAllowed ? '' : 'not '}${what.join(' ')}`,
    async () => (await can(namespace, ...what)) === isAllowed,
    {
      everyMs: 200,
    },
  );

before(async () => {
  cluster = await startCluster();
  await cluster.addNodes(['node-1', 'node-2']);
  helm = await createHelm(cluster.kubeconfig);
});
after(() => cluster.stop());

test('for native DaemonSets only, the manager cannot create pods, and need not', async () => {
  await install(release.name, release.namespace, {
    controllers: ['native'],
    predownload: { pullPods: false },
    manager: { extraArgs: ['--leader-election-id=fleet'] },
  });
  await untilMay(true, release.namespace, 'list', 'daemonsets.apps', '--all-namespaces');
  assert.equal(await can(release.namespace, 'create', 'pods', '--all-namespaces'), false);
  assert.doesNotMatch(await kubectl(cluster.kubeconfig, ['get', 'crd']), /kruise/);
  const namespace = await cluster.createNamespace('native');
  const manager = await runInstalled(cluster, release.namespace);
  const web = webIn(cluster, namespace);
  await web.create();
  await web.running('web:v1', 2);
  await web.setImage('web:v2');
  await web.running('web:v2', 2);
  assert.equal(await forbiddenRequests(manager), 0);
  const holder = ['get', 'lease', 'fleet', '-n', release.namespace, '-o', 'jsonpath={.spec.holderIdentity}'];
  assert.notEqual(await kubectl(cluster.kubeconfig, holder), '');
  await manager.stop();
});

test('managers of some namespaces have rights there, and several serve one cluster', async () => {
  const [shop, depot, other] = await Promise.all(
    ['shop', 'depot', 'other'].map((name) => cluster.createNamespace(name)),
  );
  assert.ok(shop && depot && other);
  await install(release.name, release.namespace, { namespaces: [shop], agent: { enabled: true, namespaces: [shop] } });
  const singletons = {
    crds: { install: false },
    admissionPolicies: { manager: false, annotations: false, approvals: false },
    userRoles: { enabled: false },
  };
  await install('edgeset-depot', 'depot-system', { namespaces: [depot], ...singletons });
  for (const [namespace, own, foreign] of [
    [release.namespace, shop, depot],
    ['depot-system', depot, shop],
  ] as const) {
    await untilMay(true, namespace, 'delete', 'pods', '--namespace', own);
    await untilMay(true, namespace, 'create', 'pods', '--namespace', own);
    await untilMay(false, namespace, 'list', 'pods', '--namespace', foreign);
    await untilMay(false, namespace, 'list', 'pods', '--all-namespaces');
    await untilMay(true, namespace, 'list', 'nodes');
  }
  // The agents are a DaemonSet that their manager updates.
  await untilMay(true, release.namespace, 'delete', 'pods', '--namespace=edgeset-agent');

  const first = await runInstalled(cluster, release.namespace);
  const second = await runInstalled(cluster, 'depot-system', 'edgeset-depot-manager');
  const native = webIn(cluster, shop);
  const advanced = webIn(cluster, depot, 'apps.kruise.io/v1beta1');
  const unserved = webIn(cluster, other);
  await Promise.all([native, advanced, unserved].map((web) => web.create()));
  await Promise.all([native, advanced, unserved].map((web) => web.running('web:v1', 2)));
  await Promise.all([native, advanced, unserved].map((web) => web.setImage('web:v2')));
  await Promise.all([native, advanced].map((web) => web.running('web:v2', 2)));
  await unserved.running('web:v1', 2);
  for (const manager of [first, second]) assert.equal(await forbiddenRequests(manager), 0);
  await Promise.all([first.stop(), second.stop()]);
});

test('a second release cannot take what belongs to the first', async () => {
  const taken = install('other', 'other-system', {});
  await assert.rejects(taken, /invalid ownership metadata.*release-name.*must equal "other"/s);
});
