// The dashboard for everybody who has a token, on the embedded cluster: logging in and out.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import axe from 'axe-core';
import { DASHBOARD_FLAGS } from '../../bin/flags.ts';
import { customResourceDefinitions } from '../../src/kube/index.ts';
import { daemonRolloutCrd } from '../../src/words/index.ts';
import { kubectl, kubectlApply } from '../cluster/index.ts';
import { shippedProgram } from '../cluster/shipped.ts';
import type { Cluster } from '../conformance/index.ts';
import { until } from '../conformance/kit/until.ts';
import { startEmbeddedCluster } from '../embedded/cluster.ts';
import { createTestAuthority } from '../support/index.ts';
import { violations } from './checks.ts';
import { launchFirefox, noFirefox } from './firefox.ts';
import { pages } from './visit.ts';

/** Serves the dashboard until the returned `stop`, which resolves with the exit code. */
const serve = async (kubeconfig: string, folder: string) => {
  const { cert, key } = createTestAuthority().issue('dashboard');
  const files = { cert: path.join(folder, 'tls.crt'), key: path.join(folder, 'tls.key') };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key, { mode: 0o600 });
  const tls = [`--tls-cert-file=${files.cert}`, `--tls-private-key-file=${files.key}`];
  const args = [
    ...DASHBOARD_FLAGS,
    await shippedProgram('dashboard'),
    'dashboard',
    '--listen=127.0.0.1:0',
    '--metrics-bind-address=127.0.0.1:0',
    `--kubeconfig=${kubeconfig}`,
    '--log-format=json',
    ...tls,
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'pipe'] });
  const exit = once(child, 'exit') as Promise<[number | null]>;
  let [port, metrics] = ['', ''];
  for await (const line of createInterface(child.stderr)) {
    [, port = port] = /"serving the dashboard","port":(\d+)/.exec(line) ?? [];
    [, metrics = metrics] = /"serving metrics","address":"([^"]+)"/.exec(line) ?? [];
    if (line.includes('watching the rollouts')) break;
  }
  child.stderr.resume();
  const stop = async (): Promise<number | null> => {
    child.kill('SIGTERM');
    return (await exit)[0];
  };
  /** The value of a metric. */
  const metric = async (name: string): Promise<number> => {
    const body = await (await fetch(`http://${metrics}/metrics`)).text();
    return Number(
      body
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.slice(name.length),
    );
  };
  return { origin: `https://127.0.0.1:${port}`, stop, metric };
};

describe('the dashboard in the cluster', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-login-'));
  const open = pages();
  let cluster: Cluster;
  let namespace: string;
  let token: string;
  let dashboard: Awaited<ReturnType<typeof serve>>;

  before(async () => {
    cluster = await startEmbeddedCluster();
    await cluster.client.create(customResourceDefinitions, daemonRolloutCrd);
    await cluster.addNodes(['node-1', 'node-2']);
    namespace = await cluster.createNamespace('fleet');
    await kubectlApply(cluster.kubeconfig, {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'web', namespace, annotations: { 'apps.openyurt.io/update-strategy': 'auto' } },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        updateStrategy: { type: 'OnDelete' },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'web:v1' }] } },
      },
    });
    token = (await kubectl(cluster.kubeconfig, ['create', 'token', 'default', '-n', namespace])).trim();
    dashboard = await serve(cluster.kubeconfig, folder);
  });
  after(async () => {
    const code = await dashboard.stop();
    await cluster.stop();
    rmSync(folder, { recursive: true });
    assert.equal(code, 0);
  });

  it('asks for a token, keeps it from the page, and lets go of it', async (t) => {
    const { page, context } = await open(t, dashboard.origin, {
      path: `/#/${namespace}/ds/web`,
      ignoreHTTPSErrors: true,
      // What the server refuses, the browser reports.
      allow: /status of 401/,
    });
    await page.evaluate(axe.source);
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    assert.deepEqual(await violations(page), []);

    await page.getByLabel('Token').fill('not-a-token');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').getByText('does not accept this token').waitFor();
    assert.deepEqual(await violations(page), []);

    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'web' }).waitFor();
    await page.getByText(`system:serviceaccount:${namespace}:default`).waitFor();
    assert.deepEqual(await violations(page), []);
    const { metric } = dashboard;
    await until('one page looks', async () => (await metric('edgeset_dashboard_viewers')) === 1);
    await until('its rollout is watched', async () => (await metric('edgeset_dashboard_watches')) >= 5);
    assert.equal(await metric('edgeset_dashboard_sessions'), 1);
    assert.ok((await metric('edgeset_dashboard_requests_total{code="401"}')) >= 1, 'the wrong token');
    const readAt = await metric('edgeset_dashboard_last_read_timestamp_seconds');
    assert.ok(readAt > 0 && readAt <= Date.now() / 1_000, `${readAt}`);
    const kept = await page.evaluate<string>(
      'document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage }) + document.documentElement.outerHTML',
    );
    assert.ok(!kept.includes(token));
    const [cookie, ...others] = await context.cookies();
    assert.deepEqual(others, []);
    assert.deepEqual(
      [cookie?.name, cookie?.httpOnly, cookie?.secure, cookie?.sameSite],
      ['__Host-edgeset-dashboard', true, true, 'Strict'],
    );
    assert.ok(!cookie?.value.includes(token));

    // A link in a chat, to a page that this browser may see.
    const link = `${dashboard.origin}/#/${namespace}/ds/web`;
    const chat = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end(`<a href="${link}">it</a>`),
    );
    t.after(() => chat.close());
    await once(chat.listen(0, '127.0.0.1'), 'listening');
    const visitor = await context.newPage();
    await visitor.goto(`http://localhost:${(chat.address() as AddressInfo).port}`);
    const followed = visitor.waitForRequest((request) => request.isNavigationRequest());
    await visitor.getByRole('link').click();
    await visitor.getByRole('heading', { name: 'web' }).waitFor();
    const { cookie: sent, ...headers } = await (await followed).allHeaders();
    assert.deepEqual([sent, headers['sec-fetch-site']], [undefined, 'cross-site']);
    await visitor.close();

    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    assert.equal(await page.getByRole('heading', { name: 'web' }).count(), 0, 'nothing of it stays on the page');
    assert.deepEqual(await context.cookies(), []);
  });

  it('lets a token in and lets go of it in Firefox, too', { skip: noFirefox }, async (t) => {
    const { go, run, shows, press } = await launchFirefox(t);
    await go(`${dashboard.origin}/#/${namespace}/ds/web`);
    await shows('Log in');
    await run(`(() => {
      const field = document.querySelector('input');
      field.value = '${token}';
      field.dispatchEvent(new Event('input', { bubbles: true }));
    })()`);
    await press('Log in');
    await shows(`system:serviceaccount:${namespace}:default`);
    assert.equal(await run('document.cookie'), '');
    await go('about:blank');
    await go(`${dashboard.origin}/#/${namespace}/ds/web`);
    await press('Log out');
    await shows('Log in');
  });
});
