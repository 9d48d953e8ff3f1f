// The dashboard of `kubectl edgeset dashboard --contexts`, on two embedded clusters and an address that does not answer.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { parse, stringify } from 'yaml';
import { rolloutApprovals, rolloutPlans } from '../../src/controller/index.ts';
import { openAddress } from '../../src/dashboard/testing/index.ts';
import { customResourceDefinitions, daemonSets } from '../../src/kube/index.ts';
import { daemonRolloutCrd, planCrds, type RolloutPlanObject } from '../../src/words/index.ts';
import { kubectlApply } from '../cluster/index.ts';
import { shippedCommands } from '../cluster/shipped.ts';
import type { Cluster, Link, Manager } from '../conformance/index.ts';
import { until } from '../conformance/kit/until.ts';
import { startEmbeddedCluster } from '../embedded/cluster.ts';
import { violations } from './checks.ts';
import { type StartedDashboard, startDashboard } from './start-dashboard.ts';
import { pages } from './visit.ts';

/** Who can write a kubeconfig can choose such a name. */
const NORTH = `<img src=x onerror="window.hacked=1">&cluster=south#/?'$(id)`;
const SOUTH = 'south';
/** The same cluster as the second one, behind a link that is down. */
const AWAY = 'away/../%2e';
const namespace = 'default';

interface Kubeconfig {
  clusters: { name: string; cluster: object }[];
  users: { name: string; user: object }[];
  contexts: object[];
}

const daemonSet = (image: string, annotations: Record<string, string> = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'web', namespace, annotations: { 'apps.openyurt.io/update-strategy': 'auto', ...annotations } },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    updateStrategy: { type: 'OnDelete' },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image }] } },
  },
});

/** One node each, and one after them; the first stage soaks for longer than the test takes. */
const plan: RolloutPlanObject = {
  apiVersion: 'edgeset.io/v1alpha1',
  kind: 'RolloutPlan',
  metadata: { name: 'rings', namespace },
  spec: {
    stages: [
      { name: 'lab', nodes: { selector: { matchLabels: { ring: '1' } } }, promote: { soak: '90m' } },
      { name: 'most', nodes: { selector: { matchLabels: { ring: '2' } } }, promote: { approval: { required: true } } },
    ],
  },
};

/** Both clusters have a DaemonSet of the same name in the same namespace. */
const startSide = async (name: string): Promise<{ cluster: Cluster; manager: Manager }> => {
  const cluster = await startEmbeddedCluster();
  for (const crd of [daemonRolloutCrd, ...planCrds]) await cluster.client.create(customResourceDefinitions, crd);
  await cluster.client.create(rolloutPlans, plan);
  for (const ring of ['1', '2', '3'])
    await cluster.addNodes([`${name}-${ring}`], { labels: { side: name, site: `site-of-${name}-${ring}`, ring } });
  const manager = await cluster.startManager({ namespace, args: ['--leader-elect=false'] });
  await kubectlApply(cluster.kubeconfig, daemonSet(`web:${name}`));
  return { cluster, manager };
};

const contextOf = async (name: string, { kubeconfig }: Cluster, server = {}): Promise<Kubeconfig> => {
  const { clusters, users } = parse(await readFile(kubeconfig, 'utf8')) as Kubeconfig;
  return {
    clusters: [{ name, cluster: { ...clusters[0]?.cluster, ...server } }],
    users: [{ name, user: { ...users[0]?.user } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
};

describe('the dashboard of several clusters', { timeout: 240_000 }, () => {
  const open = pages();
  let north: Awaited<ReturnType<typeof startSide>>;
  let south: Awaited<ReturnType<typeof startSide>>;
  let link: Link;
  let folder: string;
  let kubeconfig: string;
  let dashboard: StartedDashboard;
  let origin: string;

  before(async () => {
    [north, south] = await Promise.all([startSide('north'), startSide('south')]);
    link = await south.cluster.link();
    link.cut();
    folder = await mkdtemp(path.join(tmpdir(), 'edgeset-clusters-'));
    kubeconfig = path.join(folder, 'config');
    const all = await Promise.all([
      contextOf(NORTH, north.cluster),
      contextOf(SOUTH, south.cluster),
      contextOf(AWAY, south.cluster, { server: `https://127.0.0.1:${link.port}` }),
    ]);
    const config = {
      clusters: all.flatMap(({ clusters }) => clusters),
      users: all.flatMap(({ users }) => users),
      contexts: all.flatMap(({ contexts }) => contexts),
    };
    await writeFile(kubeconfig, stringify({ apiVersion: 'v1', kind: 'Config', ...config }), { mode: 0o600 });
    const program = path.join(await shippedCommands(), 'kubectl-edgeset');
    const contexts = ['--contexts', `${NORTH},${SOUTH}`, '--contexts', AWAY];
    dashboard = await startDashboard(program, ['--kubeconfig', kubeconfig, ...contexts]);
    ({ origin } = dashboard);
  });
  after(async () => {
    const code = await dashboard.stop();
    await link.close();
    for (const { cluster, manager } of [north, south]) {
      await manager.stop();
      await cluster.stop();
    }
    await rm(folder, { recursive: true });
    assert.equal(code, 0, 'Ctrl-C ends it');
  });

  /** What commands change. */
  const stateOf = async ({ cluster: { client } }: typeof north) => {
    const { metadata, spec } = await client.get(daemonSets, { namespace, name: 'web' });
    const { annotations = {} } = metadata ?? {};
    const { items } = await client.list(rolloutApprovals, { namespace });
    return {
      isPaused: annotations['edgeset.io/paused'] === 'true',
      budget: annotations['apps.openyurt.io/max-unavailable'],
      image: spec?.template.spec?.containers[0]?.image,
      decided: items.map(({ spec: { decision, stage } }) => `${decision} ${stage}`).toSorted(),
    };
  };
  const isPaused = async (side: typeof north): Promise<boolean> => (await stateOf(side)).isPaused;

  /** Asks with the button of this name, confirms, and resolves with the command as a shell splits it. */
  const act = async (page: Page, [button, title, verb]: readonly [string, string, string]): Promise<string[]> => {
    await page.getByRole('button', { name: button }).first().click();
    const dialog = page.getByRole('dialog', { name: title, exact: true });
    await dialog.getByRole('button', { name: verb, exact: true }).click();
    await dialog.locator('.done').waitFor();
    const typed = (await dialog.locator('code').textContent()) ?? '';
    await dialog.getByRole('button', { name: 'Close' }).click();
    return execFileSync('sh', ['-c', typed.replace(/^kubectl /, String.raw`printf '%s\n' `)], { encoding: 'utf8' })
      .trimEnd()
      .split('\n');
  };

  it('shows each rollout under its cluster, and one that does not answer in a line, until it does', async (t) => {
    const { page } = await open(t, origin, { path: await dashboard.entry(), viewport: { width: 1280, height: 800 } });
    await page.evaluate(axe.source);
    const region = (name: string) => page.getByRole('region', { name, exact: true });
    for (const [name, version] of [
      [NORTH, 'north'],
      [SOUTH, 'south'],
    ] as const)
      await region(name)
        .getByRole('row', { name: new RegExp(`^Complete web .*${version}`) })
        .waitFor();
    await region(AWAY).getByText("This cluster can't be read; retrying.").waitFor();
    await region(AWAY)
      .getByText(/cannot reach the API server/)
      .waitFor();
    assert.equal(await page.getByRole('link', { name: 'web' }).count(), 2);
    await page.getByText("1 of 3 clusters can't be read").waitFor();
    assert.equal(await page.title(), '? edgeset', 'that all others are complete is not all');
    assert.deepEqual(await violations(page), []);
    assert.equal(
      await page
        .locator('.live')
        .innerText()
        .then((said) => said.startsWith('live')),
      true,
    );

    await page.getByLabel('Search').fill('north');
    await region(SOUTH).waitFor({ state: 'detached' });
    await region(AWAY).waitFor();
    await page.getByLabel('Search').fill('');

    link.restore();
    await region(AWAY).getByRole('link', { name: 'web' }).waitFor();
    assert.equal(await region(AWAY).getByText("can't be read").count(), 0);
    link.cut();
    await region(AWAY).getByText('What is shown of it may be old.').waitFor();
    assert.equal(await region(AWAY).getByRole('link', { name: 'web' }).count(), 1, 'what was known stays');
    assert.deepEqual(await violations(page), []);
    await page.setViewportSize({ width: 320, height: 568 });
    const needed = (): Promise<number> => page.evaluate<number>('document.documentElement.scrollWidth');
    await until('it fits a phone', async () => (await needed()) <= 320);
    assert.equal(await page.evaluate('"hacked" in window'), false);

    // Its page says so, and nobody can act; the others are not disturbed.
    await region(AWAY).getByRole('link', { name: 'web' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByRole('link', { name: 'edgeset' }).click();
    await region(SOUTH).getByRole('link', { name: 'web' }).click();
    await page.getByRole('button', { name: '3 updated' }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    link.restore();
  });

  it('leads to the right cluster: pages, titles, nodes, labels, the palette and what is done', async (t) => {
    const { page } = await open(t, origin, { path: await dashboard.entry(), viewport: { width: 1280, height: 800 } });
    await page.getByRole('region', { name: NORTH, exact: true }).getByRole('link', { name: 'web' }).click();
    await page.getByRole('button', { name: '3 updated' }).waitFor();
    assert.equal(await page.title(), `✓ web (${NORTH}) - edgeset`);
    await page.getByRole('navigation').getByText(NORTH).waitFor();
    await page.getByLabel('Group by').selectOption('site');
    await page.getByRole('region', { name: 'site-of-north-1' }).waitFor();
    const address = page.url();

    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Find a rollout, node or site' }).fill('web south');
    await page.getByRole('option', { name: `web ${namespace} ${SOUTH}` }).click();
    await page.waitForFunction(`location.hash === '#/${namespace}/ds/web?cluster=${SOUTH}&group=site'`);
    await page.getByRole('button', { name: '3 updated' }).waitFor();
    assert.equal(await page.title(), `✓ web (${SOUTH}) - edgeset`);
    await page.getByRole('region', { name: 'site-of-south-1' }).waitFor();
    await page.getByRole('application').first().focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary').getByText('side=south').waitFor();
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Pause…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Pause web' });
    await dialog
      .getByText(`kubectl edgeset pause ds/web -n ${namespace} --context ${SOUTH} --kubeconfig ${kubeconfig}`)
      .waitFor({ state: 'attached' });
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
    await dialog
      .getByText(/paused/)
      .first()
      .waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    assert.deepEqual([await isPaused(north), await isPaused(south)], [false, true]);

    // As from a bookmark.
    await page.goto(address);
    await page.getByRole('region', { name: 'site-of-north-1' }).waitFor();
    await page.getByRole('button', { name: 'Pause…' }).click();
    await dialog.getByText('--context ').waitFor({ state: 'attached' });
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
    await dialog
      .getByText(/paused/)
      .first()
      .waitFor();
    assert.equal(await isPaused(north), true);
    assert.equal(await page.evaluate('"hacked" in window'), false);
  });

  it('acts on the cluster that is shown, and prints commands that name it', async (t) => {
    const planned = { 'edgeset.io/rollout-plan': 'rings', 'edgeset.io/settle-seconds': '1' };
    for (const [name, { cluster }] of Object.entries({ north, south }))
      await kubectlApply(cluster.kubeconfig, daemonSet(`web:${name}-2`, planned));
    const { page } = await open(t, origin, { path: await dashboard.entry(), viewport: { width: 1280, height: 800 } });
    const show = async (cluster: string, tab: string): Promise<void> => {
      const hash = `#/${namespace}/ds/web?${new URLSearchParams({ cluster, tab }).toString()}`;
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await page.getByRole('navigation').getByText(cluster).waitFor();
    };
    const of = (command: string, context: string, ...flags: string[]): string[] => {
      const named = ['-n', namespace, '--context', context, '--kubeconfig', kubeconfig];
      return ['edgeset', command, 'ds/web', ...named, ...flags];
    };
    const untouched = await stateOf(north);
    assert.equal(untouched.isPaused, true);

    await show(SOUTH, 'stages');
    assert.deepEqual(await act(page, ['Resume…', 'Resume web', 'Resume']), of('resume', SOUTH));
    assert.deepEqual(
      await act(page, ['Promote lab…', 'Promote stage lab of web', 'Promote lab']),
      of('promote', SOUTH, '--stage=lab'),
    );
    const card = page.getByRole('region', { name: /approval/ });
    await card
      .getByText(
        `kubectl edgeset approve ds/web --stage most -n ${namespace} --context ${SOUTH} --kubeconfig ${kubeconfig}`,
      )
      .waitFor({ timeout: 60_000 });
    const approve = ['Approve most…', 'Approve stage most of web', 'Approve most'] as const;
    assert.deepEqual(await act(page, approve), of('approve', SOUTH, '--stage=most'));
    const { isPaused: isHeld, decided } = await stateOf(south);
    assert.deepEqual([isHeld, decided], [false, ['Approve most', 'Promote lab']]);
    assert.deepEqual(await act(page, ['Undo to south…', 'Undo web to south', 'Undo to south']), of('undo', SOUTH));
    assert.equal((await stateOf(south)).image, 'web:south');
    assert.deepEqual(await stateOf(north), untouched);

    // The command of another cluster must not be confirmed here.
    await page.getByRole('button', { name: 'Pause…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    await show(NORTH, 'history');
    await dialog.waitFor({ state: 'detached' });

    const undone = await stateOf(south);
    const undo = ['Undo to revision 1…', 'Undo web to north', 'Undo to north'] as const;
    assert.deepEqual(await act(page, undo), of('undo', NORTH, '--to-revision=1'));
    await show(NORTH, 'settings');
    await page.getByLabel('Budget').fill('50%');
    assert.deepEqual(
      await act(page, ['Set…', 'Change the settings of web', 'Set']),
      of('set', NORTH, '--max-unavailable=50%'),
    );
    assert.deepEqual(await stateOf(north), { ...untouched, budget: '50%', image: 'web:north' });
    assert.deepEqual(await stateOf(south), undone);
    assert.equal(await page.evaluate('"hacked" in window'), false);
  });

  it('refuses what names no cluster, or another one', async () => {
    const key = await openAddress(`${origin}${await dashboard.entry()}`);
    const get = async (to: string): Promise<number> => (await fetch(`${origin}${to}`, { headers: key })).status;
    const post = async (more: object): Promise<number> => {
      const headers = { ...key, 'content-type': 'application/json' };
      const body = JSON.stringify({ command: 'resume', namespace, kind: 'ds', name: 'web', dryRun: true, ...more });
      return (await fetch(`${origin}/api/commands`, { method: 'POST', headers, body })).status;
    };
    for (const query of ['', '?cluster=', '?cluster=east', '?cluster=__proto__']) {
      assert.equal(await get(`/api/rollouts/${namespace}/ds/web/events${query}`), 404, query);
      assert.equal(await get(`/api/labels${query}`), 404, query);
    }
    assert.equal(await get('/api/labels?cluster=south'), 200);
    for (const more of [{}, { cluster: '' }, { cluster: 'east' }]) assert.equal(await post(more), 404);
    assert.equal(await post({ cluster: ['south'] }), 400);
    assert.equal(await post({ cluster: SOUTH }), 200);
  });
});
