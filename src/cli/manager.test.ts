import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import { eventually, type FakeApiServer, startFakeApiServer } from '../../test/support/index.ts';
import { type Edgeset, startEdgeset } from './testing/process.ts';
import { version } from './version.ts';

const leasePath = '/apis/coordination.k8s.io/v1/namespaces/edgeset-system/leases/edgeset-manager';
const anyPorts = ['--metrics-bind-address=127.0.0.1:0', '--health-probe-bind-address=127.0.0.1:0'];

/** An API server without objects, with the CRD of DaemonRollouts. */
const newApi = async (t: TestContext): Promise<FakeApiServer> => {
  const plurals = ['daemonsets', 'daemonrollouts', 'controllerrevisions', 'nodes', 'pods', 'events', 'leases'];
  const api = await startFakeApiServer(...plurals);
  api.discovery.set('edgeset.io/v1alpha1', ['daemonrollouts']);
  t.after(() => api.close());
  return api;
};

const leaseOf = (api: FakeApiServer, at = leasePath) => (JSON.parse(api.text(at)) as Lease).spec ?? {};

/** A kubeconfig whose contexts have the names and servers given; the first one is current. */
const kubeconfig = (t: TestContext, servers: Record<string, string>): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-manager-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'config');
  const entries = Object.entries(servers);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: entries.map(([name, server]) => ({ name, cluster: { server } })),
    contexts: entries.map(([name]) => ({ name, context: { cluster: name } })),
    'current-context': entries[0]?.[0],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
};

const start = (t: TestContext, args: readonly string[], environment?: Record<string, string>): Edgeset => {
  const manager = startEdgeset(['manager', ...args], environment);
  t.after(() => manager.child.kill('SIGKILL'));
  return manager;
};

const startOn = (t: TestContext, api: FakeApiServer, ...args: string[]): Edgeset =>
  start(t, ['--kubeconfig', kubeconfig(t, { only: api.url }), ...anyPorts, ...args]);

const logged = (manager: Edgeset, msg: string): Promise<Record<string, unknown>> =>
  eventually(`a log line "${msg}"\n${manager.stderr()}`, () => manager.log().find((line) => line.msg === msg));
const metricsUrl = async (manager: Edgeset): Promise<string> =>
  `http://${String((await logged(manager, 'serving metrics')).address)}/metrics`;
const probeUrl = async (manager: Edgeset, page: 'readyz' | 'healthz'): Promise<string> =>
  `http://${String((await logged(manager, 'serving health probes')).address)}/${page}`;
const leading = (manager: Edgeset) => logged(manager, 'leading; starting the controllers');
const textOf = async (url: string): Promise<string> => (await fetch(url)).text();

describe('the manager process', { concurrency: 2 }, () => {
  test('does not start with a configuration of notifications that it cannot use', async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-manager-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = path.join(folder, 'notifications.yaml');
    for (const [text, problem] of [
      ['targets: [{name: a, type: slack, url: "http://h/"}]', /targets\[0\]\.url: must begin with https/],
      [undefined, /cannot be read; correct its path or permissions/],
    ] as const) {
      if (text === undefined) rmSync(file);
      else writeFileSync(file, text);
      const manager = start(t, ['--kubeconfig', file, ...anyPorts, `--notifications-config=${file}`]);
      assert.equal(await manager.ended, 2);
      assert.match(manager.stderr(), /--notifications-config: .*notifications\.yaml: /);
      assert.match(manager.stderr(), problem);
    }
  });

  test('the controllers count their work in the metrics', async (t) => {
    const api = await newApi(t);
    const manager = startOn(t, api);
    await leading(manager);
    const url = await metricsUrl(manager);
    api.put('/apis/apps/v1/namespaces/shop/daemonsets', {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: {
        name: 'web',
        namespace: 'shop',
        uid: 'd1',
        generation: 1,
        annotations: { 'apps.openyurt.io/update-strategy': 'auto' },
      },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        updateStrategy: { type: 'OnDelete' },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:v1' }] } },
      },
      status: {},
    });
    await eventually('a reconcile is counted', async () =>
      /^controller_runtime_reconcile_total\{controller="native",result="\w+"\} [1-9]/m.test(await textOf(url)),
    );
  });

  test('it becomes ready, leads, and releases the Lease on SIGTERM', async (t) => {
    const api = await newApi(t);
    const manager = startOn(t, api);
    await leading(manager);
    assert.equal((await fetch(await probeUrl(manager, 'readyz'))).status, 200);
    assert.equal((await fetch(await probeUrl(manager, 'healthz'))).status, 200);
    const metrics = await textOf(await metricsUrl(manager));
    assert.match(metrics, /^leader_election_master_status\{name="edgeset-manager"\} 1$/m);
    assert.match(metrics, /^rest_client_requests_total\{code="200",method="GET",host="127\.0\.0\.1:\d+"\} \d+$/m);
    assert.match(metrics, /^edgeset_rollouts\{controller="native"\} 0$/m);
    assert.deepEqual(
      new Set(api.requests.map(({ userAgent }) => userAgent)),
      new Set([`edgeset-manager/${version}`, `edgeset-manager/${version} leader-election`]),
    );
    const { holderIdentity, leaseDurationSeconds } = leaseOf(api);
    assert.match(holderIdentity ?? '', /_[0-9a-f]{12}$/);
    assert.equal(leaseDurationSeconds, 15);

    manager.child.kill('SIGTERM');
    assert.equal(await manager.ended, 0, manager.stderr());
    assert.equal(leaseOf(api).holderIdentity, '');
    assert.equal(manager.stdout(), '');
  });

  test('a second manager stands by and takes over when the first one stops', async (t) => {
    const api = await newApi(t);
    const first = startOn(t, api);
    await leading(first);
    const second = startOn(t, api, '--leader-election-retry-period=200ms');
    await logged(second, 'the lease has a new holder');
    assert.equal((await fetch(await probeUrl(second, 'readyz'))).status, 200);
    const metrics = await textOf(await metricsUrl(second));
    assert.match(metrics, /^leader_election_master_status\{name="edgeset-manager"\} 0$/m);
    assert.doesNotMatch(metrics, /^edgeset_rollouts\{/m);
    assert.ok(!second.log().some(({ msg }) => msg === 'leading; starting the controllers'));
    first.child.kill('SIGINT');
    assert.equal(await first.ended, 0);
    await leading(second);
  });

  test('it steps down when it cannot renew the Lease, and leads again when it can', async (t) => {
    const api = await newApi(t);
    const quick = ['lease-duration=3s', 'renew-deadline=1s', 'retry-period=200ms'];
    const manager = startOn(t, api, ...quick.map((flag) => `--leader-election-${flag}`));
    await leading(manager);
    api.fault = (method, url) =>
      method !== 'GET' && url.includes('/leases') ? { status: 500, reason: 'InternalError' } : undefined;
    await logged(manager, 'the controllers have stopped');
    const metrics = await metricsUrl(manager);
    const standingBy = await textOf(metrics);
    assert.match(standingBy, /^leader_election_master_status\{name="edgeset-manager"\} 0$/m);
    assert.doesNotMatch(standingBy, /^edgeset_rollouts\{/m);
    api.fault = () => undefined;
    await eventually('leads again', async () =>
      /^leader_election_master_status\{[^}]*\} 1$/m.test(await textOf(metrics)),
    );
    manager.child.kill('SIGTERM');
    assert.equal(await manager.ended, 0);
  });

  test('without the CRD it logs how to install it, is not ready, and continues once it is installed', async (t) => {
    const api = await newApi(t);
    api.discovery.clear();
    const manager = startOn(t, api);
    const remedy = /npx edgeset crds \| kubectl apply -f -/;
    const said = await eventually('the remedy in the log', () => manager.log().find(({ level }) => level === 'error'));
    assert.match(String(said.msg), remedy);
    const readyz = await fetch(await probeUrl(manager, 'readyz'));
    assert.equal(readyz.status, 503);
    assert.match(await readyz.text(), remedy);
    await eventually('asks again', () => api.requests.length >= 2);
    assert.deepEqual(api.paths('/leases/'), [], 'it does not take the lease either');
    api.discovery.set('edgeset.io/v1alpha1', ['daemonrollouts']);
    await leading(manager);
    assert.equal((await fetch(await probeUrl(manager, 'readyz'))).status, 200);
    const errors = manager.log().filter(({ level }) => level === 'error');
    assert.equal(errors.length, 1, 'it says so once, not at each try');
  });

  test('without the CRD of Advanced DaemonSets it serves native ones, and both once it is installed', async (t) => {
    const api = await newApi(t);
    const manager = startOn(t, api);
    await leading(manager);
    const said = manager.log().filter(({ msg }) => String(msg).includes('daemonsets.apps.kruise.io'));
    assert.deepEqual(
      said.map(({ level, controller }) => [level, controller]),
      [['info', 'advanced']],
    );
    assert.match(String(said[0]?.msg), /npx edgeset crds \| kubectl apply -f -/);
    assert.equal((await fetch(await probeUrl(manager, 'readyz'))).status, 200);
    const metrics = await metricsUrl(manager);
    assert.match(await textOf(metrics), /^edgeset_rollouts\{controller="advanced"\} 0$/m);
    const asked = () => api.requests.filter((request) => request.path.startsWith('/apis/apps.kruise.io/'));
    assert.deepEqual(new Set(asked().map((request) => request.path)), new Set(['/apis/apps.kruise.io/v1beta1']));
    api.discovery.set('apps.kruise.io/v1beta1', ['daemonsets']);
    await eventually('it watches them', () => asked().some(({ query }) => query.get('watch') === 'true'));
    await eventually('it is ready', async () => (await fetch(await probeUrl(manager, 'readyz'))).status === 200);
    manager.child.kill('SIGTERM');
    assert.equal(await manager.ended, 0, manager.stderr());
  });

  test('it waits for an unreachable API server, which does not delay the stop', async (t) => {
    const gone = await startFakeApiServer();
    await gone.close();
    const manager = startOn(t, gone);
    const said = await eventually('an error', () => manager.log().find(({ level }) => level === 'error'));
    assert.match(
      String(said.msg),
      /cannot reach http:\/\/127\.0\.0\.1:\d+: check that it is running and reachable from here/,
    );
    assert.equal((await fetch(await probeUrl(manager, 'readyz'))).status, 503);
    assert.equal((await fetch(await probeUrl(manager, 'healthz'))).status, 200);
    manager.child.kill('SIGTERM');
    assert.equal(await manager.ended, 0);
  });

  test('an address in use exits with 1 and names the flag', async (t) => {
    const api = await newApi(t);
    const manager = startOn(t, api, `--metrics-bind-address=${api.url.slice('http://'.length)}`);
    assert.equal(await manager.ended, 1);
    assert.match(manager.stderr(), /CannotListen/);
    assert.match(manager.stderr(), /give another address with --metrics-bind-address, or 0 for none/);
  });

  test('a missing kubeconfig exits with 2 and names the flag', async (t) => {
    const manager = start(t, ['--kubeconfig=/nonexistent/config', ...anyPorts]);
    assert.equal(await manager.ended, 2);
    assert.match(manager.stderr(), /^edgeset: --kubeconfig: "\/nonexistent\/config" does not exist: give /m);
  });
});

describe('flags of the manager', { concurrency: 2 }, () => {
  test('--context chooses the cluster', async (t) => {
    const [wrong, right] = [await newApi(t), await newApi(t)];
    const config = kubeconfig(t, { wrong: wrong.url, right: right.url });
    const manager = start(t, ['--kubeconfig', config, '--context=right', ...anyPorts]);
    await leading(manager);
    assert.equal(wrong.requests.length, 0);
  });

  test('KUBECONFIG stands in for --kubeconfig', async (t) => {
    const api = await newApi(t);
    await leading(start(t, anyPorts, { KUBECONFIG: kubeconfig(t, { only: api.url }) }));
  });

  test('--namespaces limits which namespaces are read', async (t) => {
    const api = await newApi(t);
    const manager = startOn(t, api, '--namespaces=shop,van', '--controllers=native');
    await leading(manager);
    const paths = new Set(api.requests.map((request) => request.path).filter((each) => each.includes('/daemonsets')));
    assert.deepEqual(
      paths,
      new Set(['/apis/apps/v1/namespaces/shop/daemonsets', '/apis/apps/v1/namespaces/van/daemonsets']),
    );
  });

  test('0 disables the endpoints', async (t) => {
    const api = await newApi(t);
    const manager = startOn(t, api, '--metrics-bind-address=0', '--health-probe-bind-address=0');
    await leading(manager);
    assert.ok(!manager.log().some(({ msg }) => String(msg).startsWith('serving')));
  });
});
