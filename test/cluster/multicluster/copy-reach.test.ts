// What is shipped for Argo CD and Karmada, on the API server of a hub. The script of the CronJob runs with the rights of its account.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { blocksOf, readPage } from '../../conformance/docs/index.ts';
import { dependencyDir } from '../controlplane/build.ts';
import { type Crd, installCrd } from '../controlplane/crd.ts';
import { kubeconfigText } from '../controlplane.ts';
import { kubectl, kubectlApply, mintToken, type RealCluster, startCluster } from '../index.ts';
import { runClient } from '../kubectl.ts';

interface CronJob {
  kind: string;
  spec: {
    jobTemplate: { spec: { template: { spec: { containers: [{ command: [string, ...string[]]; args: string[] }] } } } };
  };
}

const DEPLOY = join(import.meta.dirname, '../../../deploy/multicluster');
const MANIFEST = join(DEPLOY, 'argocd/copy-reach.yaml');
const CRD = 'cluster/v1/0000_00_clusters.open-cluster-management.io_managedclusters.crd.yaml';

let cluster: RealCluster;
/** Runs what the CronJob runs, by its account. */
let copy: () => Promise<string>;

const admin = (...args: string[]): Promise<string> => kubectl(cluster.kubeconfig, args);
const register = (name: string, labels: Readonly<Record<string, string>>): Promise<string> =>
  kubectlApply(cluster.kubeconfig, {
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: { name, labels },
    spec: { hubAcceptsClient: true },
  });
const labelOf = (name: string): Promise<string> =>
  admin('get', 'secret', name, '-n', 'argocd', '-o', String.raw`jsonpath={.metadata.labels.edgeset\.io/reach}`);

before(async () => {
  cluster = await startCluster();
  const { api, access, dir } = cluster.plane;
  const folder = await dependencyDir('../multicluster/hub-crds', 'open-cluster-management.io/api');
  await installCrd(api, parse(await readFile(join(folder, CRD), 'utf8')) as Crd);
  await admin('create', 'namespace', 'argocd');
  await admin('apply', '-f', MANIFEST);
  for (const name of ['shop-0017', 'shop-0018', 'other'])
    await admin('create', 'secret', 'generic', name, '-n', 'argocd', '--from-literal=server=https://a');
  const kubeconfig = join(dir, 'copy-reach.kubeconfig');
  const token = await mintToken(api, 'argocd', 'edgeset-copy-reach');
  await writeFile(kubeconfig, kubeconfigText({ ...access, token }), { mode: 0o600 });
  const objects = parseAllDocuments(await readFile(MANIFEST, 'utf8')).map((document) => document.toJS() as CronJob);
  const job = objects.find(({ kind }) => kind === 'CronJob');
  assert.ok(job);
  const [{ command, args }] = job.spec.jobTemplate.spec.template.spec.containers;
  const [file, ...flags] = command;
  copy = () => runClient(file, kubeconfig, [...flags, ...args]);
});
after(() => cluster.stop());

test('Argo CD and Karmada know each field of what is shipped for them', async () => {
  const [argo, karmada] = await Promise.all([
    dependencyDir('../judges/argocd-rollout', 'github.com/argoproj/argo-cd/v3'),
    dependencyDir('../judges/karmada', 'github.com/karmada-io/karmada'),
  ]);
  const bases = join(karmada, 'charts/karmada/_crds/bases');
  for (const file of [
    join(argo, 'manifests/crds/applicationset-crd.yaml'),
    join(bases, 'config/config.karmada.io_resourceinterpretercustomizations.yaml'),
    join(bases, 'policy/policy.karmada.io_overridepolicies.yaml'),
  ])
    await installCrd(cluster.plane.api, parse(await readFile(file, 'utf8')) as Crd);
  await admin('create', 'namespace', 'shop');
  const rings = blocksOf(readPage('docs/how-to/karmada.md')).find(({ language }) => language === 'yaml');
  const shipped = ['argocd', 'karmada'].map((engine) => `--filename=${join(DEPLOY, engine)}`);
  const strictly = ['apply', '--dry-run=server', '--validate=strict'];
  await admin(...strictly, ...shipped);
  assert.ok(rings);
  await kubectl(cluster.kubeconfig, [...strictly, '--filename=-'], rings.text);
});

test('it fails while no cluster has a ring', async () => {
  await register('hub', {});
  await assert.rejects(copy, /ended with 1: no ManagedCluster has the label ring/);
});

test('it copies the label, and takes it back', async () => {
  await register('shop-0017', { ring: 'canary', 'edgeset.io/reach': 'away' });
  await register('shop-0018', { ring: 'shops' });
  await copy();
  assert.deepEqual([await labelOf('shop-0017'), await labelOf('shop-0018')], ['away', '']);
  await admin('label', 'managedcluster', 'shop-0017', '--overwrite', 'edgeset.io/reach=online');
  await admin('label', 'managedcluster', 'shop-0018', 'edgeset.io/reach=suspect');
  await copy();
  assert.deepEqual([await labelOf('shop-0017'), await labelOf('shop-0018')], ['online', 'suspect']);
});

test('it fails for a Secret that its Role does not name, and copies the others', async () => {
  await register('other', { ring: 'shops', 'edgeset.io/reach': 'away' });
  await admin('label', 'managedcluster', 'shop-0018', '--overwrite', 'edgeset.io/reach=away');
  await assert.rejects(copy, /ended with 1: .*secrets "other" is forbidden/);
  assert.deepEqual([await labelOf('other'), await labelOf('shop-0018')], ['', 'away']);
  await admin('delete', 'managedcluster', 'other');
});

test('it fails if it cannot read the clusters', async () => {
  await admin('delete', 'clusterrolebinding', 'edgeset-copy-reach');
  await assert.rejects(copy, /ended with 1: .*cannot list resource "managedclusters"/);
});
