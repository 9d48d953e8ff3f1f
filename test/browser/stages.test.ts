// The stages of a rollout on the dashboard, on the embedded cluster with a manager.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import axe from 'axe-core';
import { rolloutApprovals, rolloutPlans } from '../../src/controller/index.ts';
import { customResourceDefinitions, pods } from '../../src/kube/index.ts';
import { daemonRolloutCrd, planCrds, type RolloutPlanObject } from '../../src/words/index.ts';
import { kubectlApply } from '../cluster/index.ts';
import { shippedCommands } from '../cluster/shipped.ts';
import type { Cluster, Manager } from '../conformance/index.ts';
import { until } from '../conformance/kit/until.ts';
import { startEmbeddedCluster } from '../embedded/cluster.ts';
import { violations } from './checks.ts';
import { type StartedDashboard, startDashboard } from './start-dashboard.ts';
import { pages } from './visit.ts';

/** Written with EDGESET_WRITE_PICTURES=1. */
const PICTURE = path.join(import.meta.dirname, '../../docs/images/stages.png');
const RINGS = { lab: ['lab-1'], canary: ['canary-1', 'canary-2'] } as const;
const OTHERS = ['shop-1', 'shop-2', 'shop-3'];
const PATIENT = { timeout: 60_000 };

const ring = (name: keyof typeof RINGS, promote: object) => ({
  name,
  nodes: { selector: { matchLabels: { ring: name } } },
  promote,
});

const plan = (namespace: string): RolloutPlanObject => ({
  apiVersion: 'edgeset.io/v1alpha1',
  kind: 'RolloutPlan',
  metadata: { name: 'rings', namespace },
  spec: { stages: [ring('lab', { soak: '90m' }), ring('canary', { approval: { required: true } })] },
});

const daemonSet = (namespace: string, name: string, image: string, annotations: Record<string, string> = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: {
    name,
    namespace,
    annotations: {
      'apps.openyurt.io/update-strategy': 'auto',
      'apps.openyurt.io/max-unavailable': '100%',
      'edgeset.io/settle-seconds': '1',
      ...annotations,
    },
  },
  spec: {
    selector: { matchLabels: { app: name } },
    updateStrategy: { type: 'OnDelete' },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image }] } },
  },
});

describe('the stages on the dashboard', { timeout: 240_000 }, () => {
  const open = pages();
  const planned = { 'edgeset.io/rollout-plan': 'rings' };
  let cluster: Cluster;
  let manager: Manager;
  let dashboard: StartedDashboard;
  let namespace: string;

  before(async () => {
    cluster = await startEmbeddedCluster();
    for (const crd of [daemonRolloutCrd, ...planCrds]) await cluster.client.create(customResourceDefinitions, crd);
    for (const [name, nodes] of Object.entries(RINGS)) await cluster.addNodes(nodes, { labels: { ring: name } });
    await cluster.addNodes(OTHERS);
    namespace = await cluster.createNamespace('rings');
    await cluster.client.create(rolloutPlans, plan(namespace));
    manager = await cluster.startManager({ namespace, args: ['--leader-elect=false', '--controllers=native'] });
    await kubectlApply(cluster.kubeconfig, daemonSet(namespace, 'web', 'web:v1', planned));
    await kubectlApply(cluster.kubeconfig, daemonSet(namespace, 'plain', 'plain:v1'));
    dashboard = await startDashboard(path.join(await shippedCommands(), 'kubectl-edgeset'), [
      '--kubeconfig',
      cluster.kubeconfig,
      '-n',
      namespace,
    ]);
  });
  after(async () => {
    await dashboard.stop();
    await manager.stop();
    await cluster.stop();
  });

  it('are a pipeline, in which a stage is promoted and another approved', async (t) => {
    const { origin } = dashboard;
    const { page } = await open(t, origin, {
      path: await dashboard.entry(),
      viewport: { width: 1280, height: 800 },
      reducedMotion: 'reduce',
    });
    await page.evaluate(axe.source);
    await page.getByRole('link', { name: 'web' }).click(PATIENT);
    await page.getByRole('button', { name: '6 updated' }).waitFor(PATIENT);
    await kubectlApply(cluster.kubeconfig, daemonSet(namespace, 'web', 'web:v2', planned));

    const tab = (name: string): Promise<void> => page.getByRole('link', { name, exact: true }).click();
    await tab('Stages');
    const pipeline = page.getByRole('region', { name: 'Stages' });
    const stages = pipeline.getByRole('list').first().locator('> li');
    const current = pipeline.locator('[aria-current=step]');
    const dialog = page.getByRole('dialog');
    const promote = current.getByRole('button', { name: 'Promote lab…' });
    await promote.click(PATIENT);
    await dialog.getByRole('button', { name: 'Promote lab' }).waitFor();
    await kubectlApply(cluster.kubeconfig, daemonSet(namespace, 'web', 'web:v3', planned));
    await dialog.getByText('The target revision has changed').waitFor(PATIENT);
    assert.equal(await dialog.getByRole('button', { name: 'Promote lab' }).count(), 0, 'nobody has looked at it');
    await dialog.getByRole('button', { name: 'Close' }).click();

    await current
      .getByRole('timer')
      .getByText(/^1 hr (29|30) min left$/)
      .waitFor(PATIENT);
    assert.deepEqual(
      (await stages.allInnerTexts()).map((text) => text.split(/\s+/).slice(0, 2).join(' ')),
      ['lab Open', 'canary Closed', 'rest Closed'],
    );
    await current.getByText('1 of 1 online nodes updated, 1 in all').waitFor();
    await current.getByText(/^Soaks until .*\d\d:\d\d\.$/).waitFor();
    assert.equal(await current.getByRole('button', { name: 'Approve' }).count(), 0, 'nothing awaits it');
    const tops = async (): Promise<number> => {
      const boxes = await Promise.all((await stages.all()).map((one) => one.boundingBox()));
      return new Set(boxes.map((box) => box?.y)).size;
    };
    assert.equal(await tops(), 1, 'they are in a row');
    for (const width of [2_560, 320]) {
      await page.setViewportSize({ width, height: width === 320 ? 568 : 1_440 });
      const needed = (): Promise<number> => page.evaluate<number>('document.documentElement.scrollWidth');
      await until(`the stages fit a screen of ${width} px`, async () => (await needed()) <= width);
      assert.deepEqual(await violations(page), [], `at ${width} px`);
      if (width === 320) assert.equal(await tops(), 3, 'each is below the other');
    }
    await page.setViewportSize({ width: 1280, height: 800 });

    await page.getByRole('button', { name: 'Preview next wave' }).click();
    const lines = dialog.getByRole('list', { name: 'Preview of the next wave' }).getByRole('listitem');
    const left = async (line: RegExp): Promise<number> =>
      (await lines.filter({ hasText: line }).boundingBox())?.x ?? Number.NaN;
    assert.ok((await left(/^lab \(open\): lab-1$/)) > (await left(/^Stages of the rollout plan:$/)), 'it is indented');
    await dialog.getByRole('button', { name: 'Close' }).click();

    await tab('Fleet');
    const groups = page.locator('section.group');
    const heads = async (): Promise<string> =>
      (await groups.locator('.group-head').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ')).join();
    await until('each stage has its nodes', async () => (await heads()) === 'lab 1 / 1,canary 0 / 2,rest 0 / 3');
    await groups.nth(0).getByText('Open: 1 of 1 online nodes updated, 1 in all. Soaks until').waitFor();
    await groups.nth(1).getByText('Closed: 0 of 2 online nodes updated, 2 in all.').waitFor();
    await page.getByRole('button', { name: '5 held' }).click();
    await until('a stage without such a node is not shown', async () => (await heads()) === 'canary 0 / 2,rest 0 / 3');
    await page.getByRole('button', { name: '5 held' }).click();
    const grouping = page.getByLabel('Group by');
    await grouping.selectOption('nothing');
    await until('all nodes are one group', async () => (await heads()) === 'Nodes 1 / 6');
    assert.deepEqual(await violations(page), [], 'with the stages in a line above');
    assert.deepEqual(
      await page.getByRole('list', { name: 'Stages in one line' }).getByRole('listitem').allInnerTexts(),
      ['lab', 'canary', 'rest'].map((name) => (name === 'lab' ? 'lab 100%' : name)),
    );
    await grouping.selectOption('stage');

    await tab('Stages');
    await promote.focus();
    await page.keyboard.press('Enter');
    await dialog.getByText('This skips: soak (1 hr left).').waitFor();
    await dialog.getByRole('heading', { name: 'Promote stage lab of web' }).waitFor();
    assert.deepEqual(await violations(page), []);
    assert.deepEqual((await cluster.client.list(rolloutApprovals, { namespace })).items, []);
    await dialog.getByRole('button', { name: 'Promote lab' }).click();
    await dialog.getByText(/stage lab promoted at revision .* skipped$/m).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    const lab = stages.filter({ hasText: 'lab' });
    await lab.getByText(/^Passed .*, by hand, by \S+$/).waitFor(PATIENT);

    const approve = current.getByRole('button', { name: 'Approve canary…' });
    await approve.waitFor(PATIENT);
    if (process.env.EDGESET_WRITE_PICTURES) {
      await page.setViewportSize({ width: 1280, height: 720 });
      await page.screenshot({ path: PICTURE });
    }
    const { items: running } = await cluster.client.list(pods, { namespace, labelSelector: 'app=web' });
    const closed = running.find(({ spec }) => spec?.nodeName === 'shop-1');
    await cluster.client.delete(pods, { namespace, name: closed?.metadata?.name ?? '' });
    await stages
      .nth(2)
      .getByText(/^3 nodes, 1 exposed to the new version/)
      .waitFor(PATIENT);
    await tab('Fleet');
    await groups.getByText(/^1 of 3 online nodes updated, 3 in all, 1 exposed/).waitFor();
    await tab('Stages');
    await approve.click();
    await dialog.getByText('You approve stage canary: 2 of 2 online nodes updated, 2 in all.').waitFor();
    await dialog.getByLabel('Comment').fill("Lyon's tills are fine ");
    assert.deepEqual(await violations(page), []);
    await dialog.getByRole('button', { name: 'Approve canary' }).click();
    await dialog.getByText(/stage canary approved at revision \w+$/m).waitFor();
    assert.equal(await dialog.getByLabel('Comment').count(), 0, 'it is decided');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await stages
      .filter({ hasText: 'canary' })
      .getByText(/^Passed .*, approved by \S+$/)
      .waitFor(PATIENT);
    assert.equal(await pipeline.getByRole('button').count(), 0, 'the last stage has nothing to decide');
    await page.getByRole('link', { name: /^History/ }).click();
    const recorded = page.getByRole('list', { name: 'Last rollouts' });
    await recorded.getByText(/^promoted by \S+$/).waitFor(PATIENT);
    await recorded.getByText(/^approved by \S+: Lyon's tills are fine$/).waitFor(PATIENT);
    assert.deepEqual(await violations(page), []);
    const { items } = await cluster.client.list(rolloutApprovals, { namespace });
    assert.deepEqual(items.map(({ spec }) => [spec.decision, spec.stage, spec.comment].join(' ')).toSorted(), [
      "Approve canary Lyon's tills are fine",
      'Promote lab ',
    ]);
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.deepEqual(await violations(page), [], 'in the dark');

    await page.goto(`${origin}/#/${namespace}/ds/plain`);
    await page.getByRole('heading', { name: 'plain' }).waitFor();
    await page.getByRole('button', { name: '6 updated' }).waitFor(PATIENT);
    assert.equal(await pipeline.count(), 0, 'it has no plan');
  });
});
