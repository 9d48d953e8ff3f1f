import path from 'node:path';
import type { Browser } from 'playwright-core';
import { customResourceDefinitions } from '../../src/kube/index.ts';
import { daemonRolloutCrd } from '../../src/words/index.ts';
import { kubectlApply } from '../cluster/index.ts';
import { startEmbeddedCluster } from '../embedded/cluster.ts';
import { startDashboard } from './start-dashboard.ts';

const SITES = ['berlin', 'hamburg', 'leipzig', 'munich', 'stuttgart'];
const EACH = 72;
const isOffline = (index: number): boolean => index % 11 === 5;
const program = path.join(import.meta.dirname, '../../bin/kubectl-edgeset.ts');

const daemonSet = (namespace: string, version: number) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: {
    name: 'till',
    namespace,
    annotations: {
      'apps.openyurt.io/update-strategy': 'auto',
      'apps.openyurt.io/max-unavailable': '8%',
      'edgeset.io/settle-seconds': '1',
      'edgeset.io/failure-threshold': '20',
    },
  },
  spec: {
    selector: { matchLabels: { app: 'till' } },
    updateStrategy: { type: 'OnDelete' },
    template: {
      metadata: { labels: { app: 'till' } },
      spec: { containers: [{ name: 'till', image: `till:${version}` }] },
    },
  },
});

/** A fleet of several hundred nodes half way through a rollout, some of them offline, some failed. */
export const takeFleetPicture = async (browser: Browser, file: string): Promise<void> => {
  const cluster = await startEmbeddedCluster();
  try {
    await cluster.client.create(customResourceDefinitions, daemonRolloutCrd);
    const nodes = SITES.flatMap((site) => Array.from({ length: EACH }, (_, index) => `${site}-${index + 1}`));
    for (const site of SITES)
      await cluster.addNodes(
        nodes.filter((name) => name.startsWith(site)),
        { labels: { site } },
      );
    const namespace = 'default';
    const manager = await cluster.startManager({ namespace, args: ['--leader-elect=false'] });
    await kubectlApply(cluster.kubeconfig, daemonSet(namespace, 1));
    const dashboard = await startDashboard(program, ['--kubeconfig', cluster.kubeconfig, '-n', namespace]);
    const page = await browser.newPage({
      viewport: { width: 1_280, height: 1_180 },
      locale: 'en-GB',
      colorScheme: 'light',
      deviceScaleFactor: 1.5,
      reducedMotion: 'reduce',
    });
    page.setDefaultTimeout(120_000);
    await page.goto(`${dashboard.origin}${await dashboard.entry()}`);
    await page.locator('.live').getByText('live').waitFor();
    await page.goto(`${dashboard.origin}/#/${namespace}/ds/till?group=site`);
    await page.reload();
    await page.getByRole('button', { name: `${nodes.length} updated` }).waitFor();
    await cluster.offline(nodes.filter((_, index) => isOffline(index)));
    const online = nodes.filter((_, index) => !isOffline(index));
    await cluster.behave(online, { startMs: 4_000 });
    await cluster.behave(
      online.filter((_, index) => index % 60 === 20),
      { behaviour: 'crash-loop' },
    );
    await kubectlApply(cluster.kubeconfig, daemonSet(namespace, 2));
    // More than half.
    await page.getByRole('button', { name: /^1[6-9]\d updated/ }).waitFor();
    await page.screenshot({ path: file, animations: 'disabled' });
    await page.close();
    await dashboard.stop();
    await manager.stop();
  } finally {
    await cluster.stop();
  }
};
