// Install, upgrade, roll back and uninstall the chart, on a real control plane with a manager that has exactly its rights.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Manager } from '../../conformance/index.ts';
import { eventually } from '../../support/index.ts';
import { kubectl, type RealCluster, startCluster } from '../index.ts';
import { chart, createHelm, type Helm, release, root } from './helm.ts';
import { forbiddenRequests, NEW_COLUMN, runInstalled, type Web, webIn, writeEarlierChart } from './installation.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeset-lifecycle-'));
const inRelease = ['--namespace', release.namespace];
const waiting = ['--wait', '--timeout=120s'];

let cluster: RealCluster;
let helm: Helm;
let manager: Manager;
let web: Web;

const run = (...args: string[]): Promise<string> => kubectl(cluster.kubeconfig, args);
const imageOfManager = (): Promise<string> =>
  run('get', 'deployment', 'edgeset-manager', ...inRelease, '-o', 'jsonpath={.spec.template.spec.containers[0].image}');
const columns = (): Promise<string> =>
  run('get', 'crd', 'daemonrollouts.edgeset.io', '-o', 'jsonpath={..additionalPrinterColumns[*].name}');

before(async () => {
  cluster = await startCluster();
  await cluster.addNodes(['node-1', 'node-2']);
  helm = await createHelm(cluster.kubeconfig);
  web = webIn(cluster, await cluster.createNamespace('shop'));
});
after(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

test('an earlier version installs where the restricted Pod Security Standard is enforced', async () => {
  await run('create', 'namespace', release.namespace);
  await run('label', 'namespace', release.namespace, 'pod-security.kubernetes.io/enforce=restricted');
  await helm('install', release.name, writeEarlierChart(folder), ...inRelease, ...waiting);
  assert.equal(await imageOfManager(), 'edgeset/manager:0.0.9');
  assert.doesNotMatch(await columns(), new RegExp(NEW_COLUMN));
});

test('a manager with the rights of the chart starts a rollout', async () => {
  manager = await runInstalled(cluster, release.namespace);
  await web.create({ 'edgeset.io/partition': '1' });
  await web.running('web:v1', 2);
  await web.setImage('web:v2');
  await web.running('web:v2', 1);
});

test('an upgrade in the middle of it brings the new CRDs, and the rollout completes', async () => {
  await helm('upgrade', release.name, chart, ...inRelease, ...waiting);
  assert.match(await imageOfManager(), /^edgeset\/manager:0\.1\.0$/);
  assert.match(await columns(), new RegExp(NEW_COLUMN));
  await manager.stop();
  manager = await runInstalled(cluster, release.namespace);
  await web.annotate('edgeset.io/partition=0');
  await web.running('web:v2', 2);
  await web.complete();
  assert.equal(await forbiddenRequests(manager), 0);
});

test('values that are wrong, and a version that does not start, leave what was there', async () => {
  const bad = helm('upgrade', release.name, chart, ...inRelease, '--set', 'manager.replicas=many');
  await assert.rejects(bad, /'\/manager\/replicas': got string, want integer/);
  const tag = 'image.tag=0.2.0--never-ready';
  const stuck = ['--rollback-on-failure', '--timeout=10s', '--set', tag];
  await assert.rejects(helm('upgrade', release.name, chart, ...inRelease, ...stuck), /edgeset-manager/);
  assert.equal(await imageOfManager(), 'edgeset/manager:0.1.0');
  await run('rollout', 'status', 'deployment/edgeset-manager', ...inRelease, '--timeout=60s');
});

test('the agent can be added later, and runs on every node', async () => {
  const agent = ['--set', 'agent.enabled=true,agent.allNamespaces=true'];
  await helm('upgrade', release.name, chart, ...inRelease, ...waiting, ...agent);
  const pods = await run('get', 'pods', '--namespace=edgeset-agent', '-o', 'custom-columns=N:.spec.nodeName');
  assert.deepEqual(pods.trim().split('\n').toSorted(), ['N', 'node-1', 'node-2']);
});

test('a rollback restores the earlier version', async () => {
  await helm('rollback', release.name, '1', ...inRelease, ...waiting);
  assert.equal(await imageOfManager(), 'edgeset/manager:0.0.9');
  assert.match(await run('get', 'dro', '-A'), / web /);
  await web.setImage('web:v3');
  await web.running('web:v3', 2);
});

test('uninstall keeps the CRDs and their objects, and the same release can be installed again', async () => {
  await manager.stop();
  await helm('uninstall', release.name, ...inRelease, ...waiting);
  assert.match(await run('get', 'dro', '-A'), / web /);
  assert.match(await run('get', 'crd'), /daemonsets\.apps\.kruise\.io/);
  const kinds = 'clusterrole,clusterrolebinding,validatingadmissionpolicy,flowschema,namespace,deployment,role,pdb';
  const ours = ['-l', 'app.kubernetes.io/managed-by=Helm', '--ignore-not-found'];
  // The namespace of the agents, which the rollback removed, may take a while.
  const isGone = async (): Promise<boolean> => (await run('get', kinds, ...inRelease, ...ours)) === '';
  await eventually('everything else is gone', isGone, { everyMs: 200 });
  await helm('install', release.name, chart, ...inRelease, ...waiting);
  assert.match(await columns(), new RegExp(NEW_COLUMN));
});

test('a release that no longer installs the CRDs leaves them in place', async () => {
  await helm('upgrade', release.name, chart, ...inRelease, ...waiting, '--set', 'crds.install=false');
  assert.match(await run('get', 'dro', '-A'), / web /);
});

test('what kubectl installed becomes a release', async () => {
  await helm('uninstall', release.name, ...inRelease, ...waiting);
  await run('apply', '-k', join(root, 'deploy'));
  await run('delete', 'deployment,poddisruptionbudget', 'edgeset-manager', ...inRelease);
  await helm('install', release.name, chart, ...inRelease, ...waiting, '--take-ownership', '--force-conflicts');
  await helm('upgrade', release.name, chart, ...inRelease, ...waiting, '--reset-then-reuse-values');
  assert.match(await run('get', 'dro', '-A'), / web /);
});
