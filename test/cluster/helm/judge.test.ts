// What `helm upgrade --install --wait` of Helm 4 says of a chart with a DaemonSet that edgeset rolls out.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { stringify } from 'yaml';
import { eventually } from '../../support/index.ts';
import { type RealCluster, startCluster } from '../index.ts';
import { chart, createHelm, type Helm, release } from './helm.ts';
import { runInstalled, webIn } from './installation.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeset-judge-'));
let cluster: RealCluster;
let helm: Helm;

interface App {
  apiVersion?: string;
  annotations?: Readonly<Record<string, string>>;
}

/** A chart of one DaemonSet, whose only value is its image. */
const writeChart = (name: string, { apiVersion = 'apps/v1', annotations = {} }: App): string => {
  const where = join(folder, name);
  mkdirSync(join(where, 'templates'), { recursive: true });
  writeFileSync(join(where, 'Chart.yaml'), stringify({ apiVersion: 'v2', name, version: '1.0.0' }));
  const daemonSet = {
    apiVersion,
    kind: 'DaemonSet',
    metadata: { name: 'web', annotations },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      ...(apiVersion === 'apps/v1' && { updateStrategy: { type: 'OnDelete' } }),
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: '{{ .Values.image }}' }] },
      },
    },
  };
  writeFileSync(join(where, 'templates', 'daemonset.yaml'), stringify(daemonSet));
  return where;
};

/** Installs or upgrades it, and waits for as long as Helm does. */
const deploy = (namespace: string, from: string, image: string, timeout = '120s'): Promise<string> =>
  helm(
    'upgrade',
    '--install',
    'web',
    from,
    '-n',
    namespace,
    '--set',
    `image=${image}`,
    '--wait',
    `--timeout=${timeout}`,
  );

before(async () => {
  cluster = await startCluster();
  await cluster.addNodes(['node-1', 'node-2', 'node-3']);
  helm = await createHelm(cluster.kubeconfig);
  await helm('install', release.name, chart, '-n', release.namespace, '--create-namespace', '--wait', '--timeout=120s');
  await runInstalled(cluster, release.namespace);
});
after(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

const auto = { 'apps.openyurt.io/update-strategy': 'auto' };
const ota = { 'apps.openyurt.io/update-strategy': 'ota' };

for (const [kind, apiVersion, annotations] of [
  ['native', 'apps/v1', auto],
  ['advanced', 'apps.kruise.io/v1beta1', {}],
] as const)
  test(`${kind}: Helm waits for the rollout, and fails for one that is halted`, async () => {
    const namespace = await cluster.createNamespace(kind);
    const from = writeChart(kind, { apiVersion, annotations });
    const web = webIn(cluster, namespace, apiVersion);
    await deploy(namespace, from, 'web:v1');
    await web.running('web:v1', 3);
    await deploy(namespace, from, 'web:v2');
    // Helm returns when it is done, and not before.
    await web.running('web:v2', 3);
    await web.complete();
    await assert.rejects(deploy(namespace, from, 'web:v3--crash-loop', '20s'), /web/);
    // Kubernetes' controller may say that it has observed the new template before the manager has taken "halted" back. Helm
    // then gives up at once, and the same command succeeds: docs/how-to/gitops.md.
    await eventually('an upgrade after the halt succeeds', () => deploy(namespace, from, 'web:v4').then(() => true), {
      withinMs: 120_000,
      everyMs: 500,
    });
    await web.running('web:v4', 3);
  });

test('advanced: an update that waits for owners is at rest', async () => {
  const namespace = await cluster.createNamespace('owners');
  const from = writeChart('owners', { apiVersion: 'apps.kruise.io/v1beta1', annotations: ota });
  await deploy(namespace, from, 'web:v1');
  await deploy(namespace, from, 'web:v2');
  await webIn(cluster, namespace, 'apps.kruise.io/v1beta1').running('web:v1', 3);
});

test('native: for an update that waits for owners, Helm waits until its timeout', async () => {
  const namespace = await cluster.createNamespace('owners');
  const from = writeChart('native-owners', { annotations: ota });
  await deploy(namespace, from, 'web:v1');
  await assert.rejects(deploy(namespace, from, 'web:v2', '10s'), /web/);
});
