// The dashboard of `kubectl edgeset dashboard`, on the embedded cluster with a manager.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import axe from 'axe-core';
import { openAddress } from '../../src/dashboard/testing/index.ts';
import { advancedDaemonSetCrd } from '../../src/kinds/advanced/index.ts';
import { customResourceDefinitions, daemonSets } from '../../src/kube/index.ts';
import { daemonRolloutCrd } from '../../src/words/index.ts';
import { kubectlApply } from '../cluster/index.ts';
import { shippedCommands } from '../cluster/shipped.ts';
import type { Cluster, Link, Manager } from '../conformance/index.ts';
import { until } from '../conformance/kit/until.ts';
import { startEmbeddedCluster } from '../embedded/cluster.ts';
import { violations } from './checks.ts';
import { type StartedDashboard, startDashboard } from './start-dashboard.ts';
import { pages } from './visit.ts';

const SHOPS = Array.from({ length: 44 }, (_, index) => `shop-${index + 1}`);
const VANS = Array.from({ length: 16 }, (_, index) => `van-${index + 1}`);
const ALL = SHOPS.length + VANS.length;
/** The first wave: the breaker halts the version then. */
const FAILED = 3;
/** Written with EDGESET_WRITE_PICTURES=1. */
const PICTURE = path.join(import.meta.dirname, '../../docs/images/fleet-halted.png');

const daemonSet = (namespace: string, image: string) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: {
    name: 'web',
    namespace,
    annotations: { 'apps.openyurt.io/update-strategy': 'auto', 'edgeset.io/settle-seconds': '1' },
  },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    updateStrategy: { type: 'OnDelete' },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image }] } },
  },
});

/** The API server checks its settings by itself. */
const advancedDaemonSet = (namespace: string) => ({
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'DaemonSet',
  metadata: { name: 'cache', namespace },
  spec: {
    selector: { matchLabels: { app: 'cache' } },
    template: { metadata: { labels: { app: 'cache' } }, spec: { containers: [{ name: 'c', image: 'cache:v1' }] } },
  },
});

describe('the dashboard', { timeout: 240_000 }, () => {
  const open = pages();
  let cluster: Cluster;
  let manager: Manager;
  let dashboard: StartedDashboard;
  let origin: string;
  let namespace: string;
  let link: Link;

  before(async () => {
    cluster = await startEmbeddedCluster();
    for (const crd of [daemonRolloutCrd, advancedDaemonSetCrd])
      await cluster.client.create(customResourceDefinitions, crd);
    await cluster.addNodes(SHOPS, { labels: { site: 'shop' } });
    await cluster.addNodes(VANS, { labels: { site: 'van' } });
    namespace = await cluster.createNamespace('fleet');
    manager = await cluster.startManager({ namespace, args: ['--leader-elect=false'] });
    await kubectlApply(cluster.kubeconfig, daemonSet(namespace, 'web:v1'));
    await kubectlApply(cluster.kubeconfig, advancedDaemonSet(namespace));
    link = await cluster.link();
    const server = `https://127.0.0.1:${link.port}`;
    const args = ['--kubeconfig', cluster.kubeconfig, '--server', server, '-n', namespace];
    dashboard = await startDashboard(path.join(await shippedCommands(), 'kubectl-edgeset'), args);
    ({ origin } = dashboard);
  });
  after(async () => {
    const code = await dashboard.stop();
    await manager.stop();
    await link.close();
    await cluster.stop();
    assert.equal(code, 0, 'Ctrl-C ends it');
  });

  it('refuses who does not know the key, other sites, and what is no command', async () => {
    const get = (to: string, headers: Record<string, string> = {}) => fetch(`${origin}${to}`, { headers });
    assert.equal((await get('/api/labels')).status, 401);
    assert.equal((await get('/api/labels', { authorization: 'Bearer wrong' })).status, 401);
    const key = await openAddress(`${origin}${await dashboard.entry()}`);
    assert.equal((await get('/api/labels', key)).status, 200);
    assert.equal((await get('/api/labels', { ...key, origin: 'http://evil.test' })).status, 403);
    const post = (type: string, body: unknown) =>
      fetch(`${origin}/api/commands`, {
        method: 'POST',
        headers: { ...key, 'content-type': type },
        body: JSON.stringify(body),
      });
    const command = { command: 'pause', namespace, kind: 'ds', name: 'web' };
    assert.equal((await post('text/plain', command)).status, 415);
    assert.equal((await post('application/json', { ...command, command: 'crds' })).status, 400);
    assert.equal((await post('application/json', { ...command, name: '--kubeconfig=/etc/passwd' })).status, 400);
  });

  it('shows the fleet, why a version was halted, and takes it back', async (t) => {
    const { page } = await open(t, origin, { path: await dashboard.entry(), viewport: { width: 1280, height: 800 } });
    await page.evaluate(axe.source);
    await page.getByRole('row', { name: /^Complete web / }).waitFor();
    assert.deepEqual(await violations(page), []);

    await page.getByRole('link', { name: 'web' }).click();
    await page.getByRole('button', { name: `${ALL} updated` }).waitFor();
    await kubectlApply(cluster.kubeconfig, daemonSet(namespace, 'web:v2--crash-loop'));
    await page.locator('.badge.bad', { hasText: 'Halted' }).waitFor({ timeout: 60_000 });
    await page.getByLabel('Group by').selectOption('site');
    await page.getByRole('region', { name: 'van' }).getByText(`/ ${VANS.length}`).waitFor();
    assert.match(await page.getByRole('list', { name: 'Causes' }).innerText(), new RegExp(`^${FAILED} crash-loop`));
    if (process.env.EDGESET_WRITE_PICTURES) await page.screenshot({ path: PICTURE });
    assert.deepEqual(await violations(page), []);

    await page.getByRole('button', { name: `${FAILED} failed` }).click();
    await page.getByRole('application').first().focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    const drawer = page.getByRole('complementary');
    await drawer
      .getByText(/CrashLoopBackOff|crash/i)
      .first()
      .waitFor();
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Undo to v1…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Undo web to v1' });
    await dialog.getByRole('row', { name: 'web:v2--crash-loop web:v1' }).waitFor();
    // Copied, it leads to the cluster that is shown.
    const flags = `-n ${namespace} --kubeconfig ${cluster.kubeconfig} --server https://127.0.0.1:${link.port}`;
    for (const where of [dialog, page.locator('.why')])
      await where.getByText(`kubectl edgeset undo ds/web ${flags}`, { exact: true }).waitFor({ state: 'attached' });
    await dialog.getByText(`${FAILED} failed nodes get v1 back first.`).waitFor();
    assert.deepEqual(await violations(page), []);
    await dialog.getByRole('button', { name: 'Undo to v1' }).click();
    await dialog.getByText(/rolled back/).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: `${ALL} updated` }).waitFor({ timeout: 60_000 });

    await page.getByRole('link', { name: /^History/ }).click();
    const past = page.getByRole('list', { name: 'Last rollouts' }).getByRole('listitem');
    await past.filter({ hasText: /Rollout 2.*Undone.*v1 → v2--crash-loop/s }).waitFor();
    await past.filter({ hasText: /Rollout 3.*changed by edgeset-cli.*revision 2 → 3/s }).waitFor();
    assert.deepEqual(await violations(page), []);
  });

  it('draws a rollout since it began for who comes later', async (t) => {
    const { page } = await open(t, origin, { path: await dashboard.entry() });
    await page.getByRole('link', { name: 'web' }).click();
    await page.getByRole('link', { name: 'Timeline' }).click();
    await page
      .getByRole('img', { name: new RegExp(`updated from ${(100 * (ALL - FAILED)) / ALL}% to 100%`) })
      .waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('.time-line canvas').first().waitFor();
  });

  it('sets the budget and the partition after it has said what changes', async (t) => {
    const { page } = await open(t, origin, { path: await dashboard.entry() });
    await page.getByRole('link', { name: 'web' }).click();
    await page.getByRole('link', { name: 'Settings' }).click();
    const dialog = page.getByRole('dialog');
    const set = page.getByRole('button', { name: 'Set…' });
    await set.waitFor();
    assert.equal(await set.isDisabled(), true, 'there is nothing to set yet');
    await page.getByRole('textbox', { name: 'Budget' }).fill('5');
    await page.getByRole('textbox', { name: 'Partition' }).fill('50%');
    const preview = dialog.getByRole('list', { name: 'Preview of the next wave' }).getByText('Budget 5: 0 in use');
    await page.getByRole('button', { name: 'Preview…' }).click();
    await preview.waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await set.click();
    await dialog.getByRole('row', { name: '10% 5' }).waitFor();
    await dialog.getByRole('row', { name: '0 50%' }).waitFor();
    await preview.waitFor();
    await page.evaluate(axe.source);
    assert.deepEqual(await violations(page), []);
    const { items } = await cluster.client.list(daemonSets, { namespace });
    assert.deepEqual(
      Object.keys(items[0]?.metadata?.annotations ?? {}).filter((key) => key.endsWith('partition')),
      [],
    );
    await dialog.getByRole('button', { name: 'Set', exact: true }).click();
    await dialog.getByText(/partition 0 -> 50%$/m).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByText('= 5 nodes').waitFor();

    await page.getByRole('textbox', { name: 'Budget' }).fill('500%');
    await set.click();
    await dialog.getByText('"500%" is more than all nodes').waitFor();
    assert.equal(await dialog.getByRole('button', { name: 'Set', exact: true }).count(), 0);
  });

  it('shows why the API server refuses a change', async (t) => {
    const { page } = await open(t, origin, { path: await dashboard.entry() });
    await page.goto(`${origin}/#/${namespace}/ads/cache?tab=settings`);
    await page.getByRole('textbox', { name: 'Budget' }).fill('0');
    await page.getByRole('button', { name: 'Set…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/no node could ever be updated/).waitFor();
    assert.equal(await dialog.getByRole('button', { name: 'Set', exact: true }).count(), 0);
  });

  it('goes where somebody wants to go while a filter is not in the address yet', async (t) => {
    const { page } = await open(t, origin, { path: await dashboard.entry() });
    await page.getByRole('link', { name: 'web' }).click();
    await page.getByRole('button', { name: `${ALL} updated` }).waitFor();
    await page.evaluate(`new Promise((resolve) => {
      document.querySelector('.legend button:not(:disabled)').click();
      requestAnimationFrame(() => resolve(location.hash += '?node=van-16'));
    })`);
    await page.getByRole('complementary', { name: 'Node van-16' }).getByText('Ready').first().waitFor();
  });

  it('says that the API server does not answer, and shows what happened once it does', async (t) => {
    const { page } = await open(t, origin, { path: await dashboard.entry() });
    const state = page.locator('.live');
    await state.getByText('live').waitFor();
    link.cut();
    await page
      .getByRole('alert')
      .getByText(/The watch failed .* retrying/)
      .waitFor();
    assert.equal(await page.getByRole('link', { name: 'web' }).count(), 1, 'what was known stays');
    link.restore();
    await state.getByText('live').waitFor({ timeout: 60_000 });
  });

  it('is accessible in each state in the dark, and fits a phone and a wall', async (t) => {
    const { page } = await open(t, origin, { path: await dashboard.entry(), colorScheme: 'dark' });
    await page.evaluate(axe.source);
    const check = async (state: string): Promise<void> => {
      for (const width of [2_560, 320]) {
        await page.setViewportSize({ width, height: width === 320 ? 568 : 1_440 });
        const needed = (): Promise<number> => page.evaluate<number>('document.documentElement.scrollWidth');
        await until(`${state} fits a screen of ${width} px`, async () => (await needed()) <= width);
      }
      assert.deepEqual(await violations(page), [], state);
    };
    const row = page.getByRole('link', { name: 'web' });
    await row.waitFor();
    await check('the overview');
    await page.getByLabel('Search').fill('nothing of this name');
    await page.getByText('No rollout matches').waitFor();
    await check('an empty overview');
    await page.getByLabel('Search').fill('');
    await row.click();
    await page.getByRole('button', { name: `${ALL} updated` }).waitFor();
    await check('a rollout');
    await page.getByLabel('Node', { exact: true }).fill('van-16');
    await page.getByRole('region', { name: 'Nodes' }).getByText('1 / 1').waitFor();
    await page.getByRole('application').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Node van-16' }).getByText('Ready').first().waitFor();
    await check('a node');
    await page.goto(`${origin}/#/${namespace}/ds/absent`);
    await page.getByText('does not exist, or is not managed').waitFor();
    await check('no rollout');
  });
});
