// `edgeset reach` as it is shipped, on the API server of a hub with the CRDs of Open Cluster Management and of Rancher Fleet, with the
// rights and the admission policy of deploy/multicluster/reach. The test writes what their hubs and agents write.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { MANAGER_FLAGS } from '../../../bin/flags.ts';
import { eventually } from '../../support/index.ts';
import { type Api, createApi } from '../api.ts';
import { dependencyDir } from '../controlplane/build.ts';
import { type Crd, installCrd } from '../controlplane/crd.ts';
import { freePort, kubeconfigText } from '../controlplane.ts';
import { kubectl, kubectlApply, mintToken, type RealCluster, startCluster } from '../index.ts';
import type { Program } from '../processes.ts';
import { shippedProgram } from '../shipped.ts';

const MANIFESTS = join(import.meta.dirname, '..', '..', '..', 'deploy', 'multicluster', 'reach');
const MODULE = '../multicluster/hub-crds';
const NAMESPACE = 'edgeset-system';
const LABEL = 'edgeset.io/reach';
/** Short times: a settle time of 2 s, a suspect window of 20 s, a check-in every 2 s of which three may be missed. */
const TIMES = ['--settle-time=2s', '--suspect-window=20s', '--fleet-checkin-interval=2s'];

let cluster: RealCluster;
/** With the rights of the ServiceAccount. */
let kubeconfig: string;
/** With the same. */
let own: Api;
const running: Program[] = [];

interface Reach {
  program: Program;
  metrics: () => Promise<string>;
  ready: () => Promise<string>;
}

const startReach = async (name: string, ...args: string[]): Promise<Reach> => {
  const [metrics, health] = await Promise.all([freePort(), freePort()]);
  const program = await cluster.plane.processes.start({
    name,
    file: process.execPath,
    args: [
      ...MANAGER_FLAGS,
      await shippedProgram('manager'),
      'reach',
      `--kubeconfig=${kubeconfig}`,
      `--metrics-bind-address=127.0.0.1:${metrics}`,
      `--health-probe-bind-address=127.0.0.1:${health}`,
      ...TIMES,
      ...args,
    ],
  });
  running.push(program);
  const read = async (port: number, path: string): Promise<string> =>
    (await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined))?.text() ?? '';
  return { program, metrics: () => read(metrics, '/metrics'), ready: () => read(health, '/readyz') };
};

const admin = (...args: string[]): Promise<string> => kubectl(cluster.kubeconfig, args);
const now = (): string => new Date().toISOString();
const CLUSTER = 'managedclusters.cluster.open-cluster-management.io';
const FLEET = 'clusters.fleet.cattle.io';
const patchStatus = (what: string[], status: object): Promise<string> =>
  admin('patch', ...what, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status }));

const labelOf = (...what: string[]): Promise<string> =>
  admin('get', ...what, '-o', `jsonpath={.metadata.labels.${LABEL.replaceAll('.', '\\.')}}`);
const labelled = (value: string, ...what: string[]): Promise<unknown> =>
  eventually(`${what.join(' ')} is ${value}`, async () => (await labelOf(...what)) === value, { everyMs: 200 });

/** Times of the API server are whole seconds. */
const secondsAfter = (at: number, seconds: number): Promise<unknown> =>
  eventually(`${seconds} s have passed`, () => Date.now() > at + seconds * 1000, { everyMs: 100 });

const installCrds = async (module: string, ...files: string[]): Promise<void> => {
  const folder = await dependencyDir(MODULE, module);
  for (const file of files)
    for (const document of parseAllDocuments(await readFile(join(folder, file), 'utf8')))
      await installCrd(cluster.plane.api, document.toJS() as Crd);
};
const installOcm = (): Promise<void> =>
  installCrds(
    'open-cluster-management.io/api',
    'cluster/v1/0000_00_clusters.open-cluster-management.io_managedclusters.crd.yaml',
    'work/v1/0000_00_work.open-cluster-management.io_manifestworks.crd.yaml',
  );
const installFleet = (): Promise<void> =>
  installCrds('github.com/rancher/fleet', 'charts/fleet-crd/templates/crds.yaml');

/** A ManagedCluster with its namespace, in contact. */
const register = async (name: string): Promise<void> => {
  await admin('create', 'namespace', name);
  await kubectlApply(cluster.kubeconfig, {
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: { name },
    spec: { hubAcceptsClient: true, leaseDurationSeconds: 1 },
  });
  await renew(name);
  await says(name, 'True');
};
const renew = (name: string): Promise<string> =>
  kubectlApply(cluster.kubeconfig, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'managed-cluster-lease', namespace: name },
    spec: { renewTime: now().replace('Z', '000Z') },
  });
/** What the hub says of its availability. */
const says = (name: string, status: string): Promise<string> => {
  const type = 'ManagedClusterConditionAvailable';
  const condition = { type, status, reason: 'Test', message: '', lastTransitionTime: now().replace(/\.\d+Z/, 'Z') };
  return patchStatus([CLUSTER, name], { conditions: [condition] });
};
const give = (name: string, version: string): Promise<string> =>
  kubectlApply(cluster.kubeconfig, {
    apiVersion: 'work.open-cluster-management.io/v1',
    kind: 'ManifestWork',
    metadata: { name: 'till', namespace: name },
    spec: {
      workload: {
        manifests: [
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'till', namespace: 'default' }, data: { version } },
        ],
      },
    },
  });

before(async () => {
  cluster = await startCluster();
  await admin('create', 'namespace', NAMESPACE);
  await admin('apply', '-f', MANIFESTS);
  const token = await mintToken(cluster.plane.api, NAMESPACE, 'edgeset-reach');
  own = createApi({ ...cluster.plane.access, token });
  kubeconfig = join(cluster.plane.dir, 'reach.kubeconfig');
  await writeFile(kubeconfig, kubeconfigText({ ...cluster.plane.access, token }), { mode: 0o600 });
});
after(async () => {
  await Promise.all(running.map((program) => program.stop()));
  await own.close();
  await cluster.stop();
});

describe('edgeset reach', () => {
  let reach: Reach;

  test('is ready without the kinds of clusters, and labels them once they are installed', async () => {
    reach = await startReach('reach');
    await eventually('it is ready', async () => (await reach.ready()).includes('[+] fleet ok'));
    assert.match(await reach.program.log(), /to label its ManagedClusters, install the hub of Open Cluster Management/);
    assert.match(await reach.program.log(), /to label its Clusters, install Rancher Fleet/);
    await Promise.all([installOcm(), installFleet()]);
    await register('shop-1');
    await labelled('online', CLUSTER, 'shop-1');
  });

  test('a ManagedCluster that goes away soon after an update is a suspect, until it gets another version', async () => {
    await register('shop-2');
    await labelled('online', CLUSTER, 'shop-2');
    await give('shop-2', 'v2');
    await renew('shop-2');
    const contactAt = Date.now();
    await says('shop-2', 'Unknown');
    await labelled('suspect', CLUSTER, 'shop-2');
    assert.match(await reach.program.log(), /cluster shop-2 went away soon after ManifestWork till was changed/);
    // Two lease durations after its last contact, the next one was due: this version cannot have reached it.
    await secondsAfter(contactAt, 3);
    await give('shop-2', 'v3');
    await labelled('away', CLUSTER, 'shop-2');
    await renew('shop-2');
    await says('shop-2', 'True');
    await labelled('online', CLUSTER, 'shop-2');
  });

  test('a ManagedCluster that goes away without an update is away', async () => {
    await says('shop-1', 'Unknown');
    await labelled('away', CLUSTER, 'shop-1');
  });

  test('a Cluster of Rancher Fleet is away after three missed check-ins, and a suspect soon after a deployment', async () => {
    for (const name of ['van-1', 'van-2']) {
      await admin('create', 'namespace', `cluster-${name}`);
      await kubectlApply(cluster.kubeconfig, {
        apiVersion: 'fleet.cattle.io/v1alpha1',
        kind: 'Cluster',
        metadata: { name, namespace: 'default' },
      });
    }
    const checkIn = async (name: string): Promise<unknown> =>
      patchStatus(['-n', 'default', FLEET, name], {
        namespace: `cluster-${name}`,
        agent: { lastSeen: now().replace(/\.\d+Z/, 'Z') },
      });
    const van = (name: string): string[] => ['-n', 'default', FLEET, name];
    await labelled('away', ...van('van-1'));
    for (const name of ['van-1', 'van-2']) await checkIn(name);
    await eventually('both are online', async () => {
      for (const name of ['van-1', 'van-2']) await checkIn(name);
      return (await labelOf(...van('van-1'))) === 'online' && (await labelOf(...van('van-2'))) === 'online';
    });
    await kubectlApply(cluster.kubeconfig, {
      apiVersion: 'fleet.cattle.io/v1alpha1',
      kind: 'BundleDeployment',
      metadata: { name: 'till', namespace: 'cluster-van-2' },
      spec: { deploymentID: 'v2' },
    });
    await checkIn('van-2');
    await Promise.all([labelled('away', ...van('van-1')), labelled('suspect', ...van('van-2'))]);
  });

  test('counts clusters by their reach and why they have it', async () => {
    const text = await reach.metrics();
    assert.match(text, /^edgeset_reach_clusters\{kind="ocm",reach="online",cause="available"\} 1$/m);
    assert.match(text, /^edgeset_reach_clusters\{kind="ocm",reach="away",cause="went-away"\} 1$/m);
    assert.match(text, /^edgeset_reach_clusters\{kind="fleet",reach="suspect",cause="soon-after-update"\} 1$/m);
    assert.match(text, /^edgeset_reach_changes_total\{kind="ocm",reach="suspect"\} 1$/m);
    assert.match(text, /^# TYPE edgeset_reach_errors_total counter\n#/m);
    assert.match(text, /^edgeset_clock_ahead_seconds 0$/m);
    assert.match(text, /^edgeset_build_info\{version="[^"]+"\} 1$/m);
    assert.match(text, /^leader_election_master_status\{name="edgeset-reach"\} 1$/m);
  });

  test('leaves a cluster with a label of its own alone, over a restart and a change of the leader', async () => {
    await admin('label', CLUSTER, 'shop-1', '--overwrite', `${LABEL}=manual`);
    const second = await startReach(
      'reach-2',
      `--leader-election-namespace=${NAMESPACE}`,
      '--leader-election-id=edgeset-reach',
      '--leader-election-lease-duration=6s',
      '--leader-election-renew-deadline=4s',
      '--leader-election-retry-period=500ms',
    );
    await eventually('it stands by', async () =>
      (await second.metrics()).includes('leader_election_master_status{name="edgeset-reach"} 0'),
    );
    await reach.program.stop();
    await eventually('it counts the cluster', async () =>
      (await second.metrics()).includes('edgeset_reach_clusters{kind="ocm",reach="unmanaged",cause=""} 1'),
    );
    assert.equal(await labelOf(CLUSTER, 'shop-1'), 'manual');
    assert.equal(await labelOf(CLUSTER, 'shop-2'), 'online');
    await admin('label', CLUSTER, 'shop-1', `${LABEL}-`);
    await labelled('away', CLUSTER, 'shop-1');
    await second.program.stop();
  });

  test('does what its flags say', async () => {
    const text = await startReach(
      'reach-flags',
      '--context=edgeset',
      '--settle-time=0',
      '--suspect-window=0',
      '--fleet-checkin-interval=1s',
      '--fleet-offline-after=1h',
      '--leader-elect=false',
      '--log-level=warn',
      '--log-format=text',
    );
    // Without a settle time, a cluster that is back is online at once; without a window there are no suspects.
    await eventually('it leads', async () => (await text.metrics()).includes('edgeset_reach_clusters{kind="fleet"'));
    await labelled('online', '-n', 'default', FLEET, 'van-1');
    await give('shop-2', 'v9');
    await secondsAfter(Date.now(), 1.1);
    await renew('shop-2');
    await says('shop-2', 'Unknown');
    await labelled('away', CLUSTER, 'shop-2');
    const log = await text.program.log();
    assert.doesNotMatch(log, /"level"|INFO|serving metrics/);
    await text.program.stop();
  });
});

describe('the account of edgeset reach', () => {
  const SHOP = '/apis/cluster.open-cluster-management.io/v1/managedclusters/shop-1';
  const VAN = '/apis/fleet.cattle.io/v1alpha1/namespaces/default/clusters/van-1';
  const patch = (body: object, path = SHOP): Promise<unknown> => own.patch(path, body, 'merge-patch');
  const REFUSED = /may change the label edgeset\.io\/reach, and nothing else/;

  test('may change nothing of a cluster but its label, and only between its own values', async () => {
    await patch({ metadata: { labels: { [LABEL]: 'online' } } });
    await assert.rejects(
      patch({ metadata: { labels: { [LABEL]: 'mine' } } }),
      /one of online, settling, away and suspect/,
    );
    await assert.rejects(
      patch({ metadata: { labels: { [LABEL]: null } } }),
      /one of online, settling, away and suspect/,
    );
    await admin('label', CLUSTER, 'shop-1', '--overwrite', `${LABEL}=manual`);
    await assert.rejects(patch({ metadata: { labels: { [LABEL]: 'online' } } }), /leaves any other value/);
    await admin('label', CLUSTER, 'shop-1', `${LABEL}-`);
    await patch({ metadata: { labels: { [LABEL]: 'away' } } });
    await assert.rejects(patch({ metadata: { labels: { other: 'x' } } }), REFUSED);
    await assert.rejects(patch({ metadata: { labels: { [LABEL]: 'online', other: 'x' } } }), REFUSED);
    await assert.rejects(patch({ metadata: { annotations: { other: 'x' } } }), REFUSED);
    await assert.rejects(patch({ metadata: { finalizers: ['example.org/x'] } }), REFUSED);
    await assert.rejects(patch({ spec: { hubAcceptsClient: false } }), REFUSED);
    await assert.rejects(patch({ spec: { taints: [{ key: 'a', effect: 'NoSelect' }] } }), REFUSED);
    await patch({ metadata: { labels: { [LABEL]: 'suspect' } } }, VAN);
    await assert.rejects(patch({ spec: { paused: true } }, VAN), REFUSED);
  });

  test('may not do more with more rights', async () => {
    const subject = `--serviceaccount=${NAMESPACE}:edgeset-reach`;
    await assert.rejects(own.delete(SHOP), /cannot delete resource/);
    await admin('create', 'clusterrolebinding', 'too-much', '--clusterrole=cluster-admin', subject);
    await eventually('it has the rights', () => own.get('/api/v1/nodes').then(() => true));
    await assert.rejects(own.delete(SHOP), REFUSED);
    await assert.rejects(patch({ status: { conditions: [] } }, `${SHOP}/status`), REFUSED);
    await assert.rejects(own.delete(VAN), REFUSED);
  });
});
