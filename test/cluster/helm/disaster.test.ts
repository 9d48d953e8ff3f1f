// What docs/how-to/disaster-recovery.md promises: CRDs that were deleted, and a manager that was gone. The release is installed as
// docs/how-to/air-gapped.md says, and changed as docs/how-to/notify.md says, by the commands of these pages.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { blocksOf, openShell, readPage, type Shell } from '../../conformance/docs/index.ts';
import type { Manager } from '../../conformance/index.ts';
import { eventually } from '../../support/index.ts';
import { kubectl, type RealCluster, startCluster } from '../index.ts';
import { chart, createHelm, type Helm, release, root } from './helm.ts';
import { runInstalled, type Web, webIn } from './installation.ts';
import { findHelm } from './programs.ts';

const within = { everyMs: 200 };
const inRelease = ['--namespace', release.namespace, '--wait', '--timeout=120s'];

let cluster: RealCluster;
let helm: Helm;
let shell: Shell;
let manager: Manager;
let shop: string;
let web: Web;
let advanced: Web;

const run = (...args: string[]): Promise<string> => kubectl(cluster.kubeconfig, args);
const uidsOf = async (namespace: string): Promise<string[]> =>
  (await run('get', 'pods', '--namespace', namespace, '-o', 'jsonpath={.items[*].metadata.uid}')).split(' ').toSorted();
const summaryOf = (name: string, namespace: string): Promise<string> =>
  run('get', 'dro', name, '--namespace', namespace, '-o', 'jsonpath={.status.summary}').catch(() => '');

const folder = mkdtempSync(join(tmpdir(), 'edgeset-disaster-'));

/** Runs the block of a how-to that begins so, where the repository's charts are. */
const play = async (page: string, begin: string): Promise<string> => {
  const block = blocksOf(readPage(`docs/how-to/${page}.md`)).find(({ text }) => text.includes(begin));
  assert.ok(block, `${page}.md has no block with ${begin}`);
  const commands = block.text.replace(/^npm .*\n/m, '');
  return shell.run(commands, 120_000);
};
const managerOf = (path: string): Promise<string> =>
  run('get', 'deployment', 'edgeset-manager', '-n', release.namespace, '-o', `jsonpath={.spec.template.spec.${path}}`);

before(async () => {
  cluster = await startCluster();
  await cluster.addNodes(['node-1', 'node-2']);
  helm = await createHelm(cluster.kubeconfig);
  symlinkSync((await findHelm()).helm, join(folder, 'helm'));
  symlinkSync(join(root, 'charts'), join(folder, 'charts'));
  const env = { PATH: `${folder}:${process.env.PATH ?? ''}`, HOME: folder, KUBECONFIG: cluster.kubeconfig };
  shell = openShell({ cwd: folder, env });
  await play('air-gapped', 'helm package');
  await play('air-gapped', 'helm install');
  manager = await runInstalled(cluster, release.namespace);
  shop = await cluster.createNamespace('shop');
  web = webIn(cluster, shop);
  await web.create();
  await web.running('web:v1', 2);
  await web.complete();
});
after(async () => {
  shell.close();
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

test('where there is no network, the release takes its images from the registry of the site', async () => {
  assert.equal(await managerOf('containers[0].image'), 'registry.site.example/edgeset/manager:0.1.0');
  assert.equal(await managerOf('imagePullSecrets[*].name'), 'site-registry');
});

test('without the CRD of DaemonRollouts no pod is touched; upgrading the release to itself restores it', async () => {
  await web.setImage('web:v2--crash-loop');
  await eventually('it is halted', async () => /halted/i.test(await summaryOf('web', shop)), within);
  const pods = await uidsOf(shop);
  await run('delete', 'crd', 'daemonrollouts.edgeset.io');
  await play('disaster-recovery', 'helm upgrade');
  // The manager that ran all the time remembers.
  await eventually('it is halted again', async () => /halted/i.test(await summaryOf('web', shop)), within);
  assert.deepEqual(await uidsOf(shop), pods);
  await web.setImage('web:v3');
  await web.running('web:v3', 2);
  await web.complete();
});

test('a manager that was gone continues with the template that it finds', async () => {
  await manager.stop();
  await helm('uninstall', release.name, ...inRelease);
  await web.setImage('web:v4');
  await web.setImage('web:v5');
  await web.running('web:v3', 2);
  await helm('install', release.name, chart, ...inRelease);
  manager = await runInstalled(cluster, release.namespace);
  await web.running('web:v5', 2);
  await web.complete();
});

test('with the CRD of Advanced DaemonSets their pods are lost; a copy of the manifests brings new ones', async () => {
  const namespace = await cluster.createNamespace('depot');
  advanced = webIn(cluster, namespace, 'apps.kruise.io/v1beta1');
  await advanced.create();
  await advanced.running('web:v1', 2);
  const pods = await uidsOf(namespace);
  await play('disaster-recovery', '> advanced-daemonsets.yaml');
  await run('delete', 'crd', 'daemonsets.apps.kruise.io');
  await web.running('web:v5', 2);
  await helm('upgrade', release.name, chart, ...inRelease);
  await run('wait', '--for=condition=Established', 'crd/daemonsets.apps.kruise.io', '--timeout=30s');
  await play('disaster-recovery', 'kubectl apply -f advanced-daemonsets.yaml');
  // The garbage collector cannot tell that their owner is gone while its kind is unknown: some pods may go only now.
  const areGone = async (): Promise<boolean> => (await uidsOf(namespace)).every((uid) => !pods.includes(uid));
  await eventually('the pods of before are gone', areGone, { withinMs: 120_000, everyMs: 500 });
  await advanced.running('web:v1', 2);
});

test('notifications are configured by a Secret, and the other values stay', async () => {
  writeFileSync(join(folder, 'notifications.yaml'), 'targets: []\n');
  await play('notify', 'create secret');
  await play('notify', 'helm upgrade');
  assert.match(await managerOf('containers[0].args'), /--notifications-config=/);
  assert.equal(await managerOf('volumes[0].secret.secretName'), 'edgeset-notifications');
});
