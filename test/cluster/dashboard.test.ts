// The dashboard in the cluster: it has the rights of its own ServiceAccount, and callers have those of theirs.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { openAddress } from '../../src/dashboard/testing/index.ts';
import { readEvents } from '../../web/fleet/events.ts';
import type { OverviewMessage, SilentCluster, StreamMessage } from '../../web/fleet/types.ts';
import { eventually } from '../support/index.ts';
import { kubeconfigText } from './controlplane.ts';
import { kubectlApply, mintToken, type RealCluster } from './index.ts';
import type { Program } from './processes.ts';
import {
  type Answer,
  callDashboard,
  createUser,
  DASHBOARD,
  daemonSet,
  type Sent,
  type ServedDashboard,
  startDashboard,
  startDashboardCluster,
} from './served-dashboard.ts';
import { shippedCommands } from './shipped.ts';

let cluster: RealCluster;
let served: ServedDashboard;
let shop: string;
let depot: string;

const call = (method: string, path: string, sent: Sent = {}): Promise<Answer> =>
  callDashboard(served, method, path, sent);

const logIn = async (token: string): Promise<string> => {
  const { status, cookie, body } = await call('POST', '/api/session', { body: { token } });
  assert.equal(status, 200, body);
  assert.ok(!body.includes(token), 'the token is never sent back');
  return cookie;
};

/** Reads a stream until it has said this much. */
const firstOf = (path: string, cookie: string, wanted: RegExp): Promise<string> => {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const sent = request(
    `https://127.0.0.1:${served.port}${path}`,
    { ca: served.ca, headers: { cookie } },
    (response) => {
      let said = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        said += chunk;
        if (!wanted.test(said)) return;
        resolve(said);
        sent.destroy();
      });
      response.on('end', () => reject(new Error(`${path} ended: ${response.statusCode} ${said}`)));
    },
  );
  // A stream that says nothing of what is wanted still says that it lives.
  const deadline = setTimeout(() => {
    reject(new Error(`${path} did not say ${wanted}`));
    sent.destroy();
  }, 60_000);
  sent.on('error', reject);
  sent.end();
  return promise.finally(() => clearTimeout(deadline));
};

/** Runs the command line as it is shipped until it says where it serves, and resolves with what it said. */
const serve = async (
  name: string,
  args: readonly string[],
  isUp: RegExp,
): Promise<{ program: Program; said: string }> => {
  const program = await cluster.plane.processes.start({
    name,
    file: process.execPath,
    args: [join(await shippedCommands(), 'edgeset'), 'dashboard', ...args],
  });
  const said = await eventually(
    `${name} serves`,
    async () => {
      const log = await program.log();
      return isUp.test(log) && log;
    },
    { everyMs: 50 },
  );
  return { program, said };
};

before(async () => {
  cluster = await startDashboardCluster();
  [shop, depot] = [await cluster.createNamespace('shop'), await cluster.createNamespace('depot')];
  for (const namespace of [shop, depot]) await kubectlApply(cluster.kubeconfig, daemonSet(namespace));
  served = await startDashboard(cluster, 'dashboard');
});
after(() => cluster.stop());

test('two users see their own namespaces, and act with their own rights', async () => {
  const [reader, writer] = [
    await createUser(cluster, 'reader', shop, false),
    await createUser(cluster, 'writer', depot, true),
  ];
  const [ofReader, ofWriter] = [await logIn(reader), await logIn(writer)];

  for (const [cookie, own, foreign] of [
    [ofReader, shop, depot],
    [ofWriter, depot, shop],
  ] as const) {
    const overview = await firstOf('/api/rollouts', cookie, /"rows"/);
    assert.match(overview, new RegExp(`"namespace":"${own}"`));
    assert.doesNotMatch(overview, new RegExp(foreign));
    await firstOf(`/api/rollouts/${own}/ds/web`, cookie, /"type":"rollout"/);
    const [forbidden, missing] = await Promise.all([
      call('GET', `/api/rollouts/${foreign}/ds/web`, { cookie }),
      call('GET', `/api/rollouts/${own}/ds/none`, { cookie }),
    ]);
    assert.equal(forbidden.status, 404);
    assert.equal(forbidden.body, missing.body, 'nobody learns what there is elsewhere');
    assert.equal(
      (await call('GET', '/api/labels', { cookie })).body,
      '{}',
      'labels of nodes need the right to list them',
    );
  }

  const pause = (cookie: string, namespace: string): Promise<Answer> =>
    call('POST', '/api/commands', { cookie, body: { command: 'pause', namespace, kind: 'ds', name: 'web' } });
  const refused = await pause(ofReader, shop);
  assert.match(refused.body, /cannot patch resource \\"daemonsets\\" in API group \\"apps\\"/);
  assert.match(refused.body, /"failed":true/);
  assert.match((await pause(ofReader, depot)).body, /cannot .* in the namespace/);
  assert.match((await pause(ofWriter, depot)).body, /"failed":false/);

  const paused = await cluster.plane.api.get<{ metadata: { annotations: object } }>(
    `/apis/apps/v1/namespaces/${depot}/daemonsets/web`,
  );
  assert.deepEqual(
    Object.entries(paused.metadata.annotations).find(([key]) => key === 'edgeset.io/paused'),
    ['edgeset.io/paused', 'true'],
  );
  const records = await cluster.audit.read();
  const acts = records.filter(({ verb, resource }) => verb === 'patch' && resource === 'daemonsets');
  assert.deepEqual(
    acts.map(({ user, namespace, code }) => [user, namespace, code]),
    [
      [`system:serviceaccount:${shop}:reader`, shop, 403],
      [`system:serviceaccount:${depot}:writer`, depot, 200],
    ],
  );
  const own = records.filter(({ user }) => user === DASHBOARD);
  const READS: readonly string[] = ['get', 'list', 'watch'];
  assert.ok(own.length > 0);
  assert.deepEqual(
    [...new Set(own.filter(({ verb }) => !READS.includes(verb)).map((one) => one.resource))].toSorted(),
    ['subjectaccessreviews', 'tokenreviews'],
  );
  assert.deepEqual(
    own.filter(({ code }) => code === 403).map(({ verb, resource }) => `${verb} ${resource}`),
    [],
  );

  assert.equal((await call('DELETE', '/api/session', { cookie: ofReader })).status, 204);
  assert.equal((await call('GET', '/api/labels', { cookie: ofReader })).status, 401);
  assert.match((await call('GET', '/api/session', { cookie: ofReader })).body, /"mustLogIn"/);
  assert.equal((await call('GET', '/api/session', { headers: { authorization: `Bearer ${reader}` } })).status, 200);
  assert.equal((await call('POST', '/api/session', { body: { token: `${reader}x` } })).status, 401);
  assert.doesNotMatch(await served.program.log(), new RegExp(reader.slice(-40)), 'no token in the log');
  await served.program.stop();
  assert.equal(await served.program.exit, 0);
});

test('it is told where and what to serve, and to which users', async () => {
  const token = await mintToken(cluster.plane.api, 'edgeset-system', 'edgeset-dashboard');
  const kubeconfig = join(cluster.plane.dir, 'served.kubeconfig');
  writeFileSync(kubeconfig, kubeconfigText({ ...cluster.plane.access, token }), { mode: 0o600 });
  const startedAt = Date.now();
  const inCluster = await serve(
    'dashboard-in-cluster',
    [
      `--kubeconfig=${kubeconfig}`,
      '--listen=127.0.0.1:0',
      '--insecure-http',
      '--trusted-proxies=127.0.0.1',
      `--namespaces=${shop}`,
      '--allowed-host=fleet.example',
      '--health-probe-bind-address=127.0.0.1:0',
      '--metrics-bind-address=127.0.0.1:0',
      '--log-level=debug',
      '--log-format=json',
    ],
    /watching the rollouts/,
  );
  const { said } = inCluster;
  assert.ok(
    said
      .trim()
      .split('\n')
      .every((line) => line.startsWith('{')),
    said,
  );
  const [, servedAt = ''] = /"serving the dashboard","port":(\d+)/.exec(said) ?? [];
  const [, probes = ''] = /"serving health probes","address":"([^"]+)"/.exec(said) ?? [];
  const responseFor = (host: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers = { host, 'x-forwarded-proto': 'https' };
      const sent = plainRequest({ host: '127.0.0.1', port: servedAt, path: '/', headers }, (response) => {
        response.resume();
        resolve(response);
      });
      sent.on('error', reject);
      sent.end();
    });
  const own = await responseFor('fleet.example');
  assert.equal(own.statusCode, 200);
  assert.match(own.headers['strict-transport-security'] ?? '', /max-age/, 'the proxy says how browsers came');
  assert.equal((await responseFor('elsewhere.example')).statusCode, 421);
  await eventually('it is ready', async () => (await fetch(`http://${probes}/readyz`)).ok);
  const [, metrics = ''] = /"serving metrics","address":"([^"]+)"/.exec(said) ?? [];
  const measured = await (await fetch(`http://${metrics}/metrics`)).text();
  assert.match(measured, /^edgeset_dashboard_api_requests_total\{code="200"\} [1-9]/m);
  assert.match(measured, /^edgeset_dashboard_info\{version="[^"]+"\} 1$/m);
  await inCluster.program.stop(30_000);
  // A watch is on record once it has ended.
  const watched = await eventually('its watches are on record', async () => {
    const ended = (await cluster.audit.read()).filter(
      ({ user, verb, resource, receivedAt }) =>
        user === DASHBOARD && verb === 'watch' && resource === 'daemonrollouts' && receivedAt >= startedAt,
    );
    return ended.length > 0 && ended;
  });
  assert.deepEqual([...new Set(watched.map(({ namespace }) => namespace))], [shop], 'of its namespace alone');

  const ownMachine = await serve(
    'dashboard-own',
    [`--kubeconfig=${cluster.kubeconfig}`, '--no-browser', '--all-namespaces', '--port=0'],
    /http:\/\/127\.0\.0\.1:\d+/,
  );
  const [address = ''] = /http:\/\/\S+/.exec(ownMachine.said) ?? [];
  const headers = await openAddress(address);
  assert.equal((await fetch(new URL('/api/labels', address), { headers })).status, 200);
  await ownMachine.program.stop(30_000);
});

/** Reads the overview of an own dashboard until it has the rollouts of these clusters; resolves with why the others are silent. */
const silentBeside = async (
  address: string,
  headers: Record<string, string>,
  wanted: readonly string[],
): Promise<Record<string, string>> => {
  const { body } = await fetch(new URL('/api/rollouts', address), { headers, signal: AbortSignal.timeout(60_000) });
  assert.ok(body);
  const shown = new Set<string>();
  let silent: readonly SilentCluster[] = [];
  for await (const data of readEvents(body)) {
    const message = JSON.parse(data) as OverviewMessage | StreamMessage;
    if (!('rows' in message)) continue;
    for (const { cluster: of, namespace } of message.rows) if (namespace === shop) shown.add(of ?? '');
    silent = message.silent ?? silent;
    const isKnown = silent.every(({ why }) => why !== '');
    if (isKnown && isDeepStrictEqual([...shown].toSorted(), wanted.toSorted())) break;
  }
  return Object.fromEntries(silent.map(({ cluster: of, why }) => [of, why]));
};

test('several contexts are shown on one page, and each that fails says why', async () => {
  const { access, api, dir } = cluster.plane;
  const [own, guest, away] = ['arn:aws:eks:eu-west-1:111122223333:cluster/shop', 'Käse & 東京', 'away'];
  const [expired, stranger] = ['expired', 'stranger'];
  const kubeconfig = join(dir, 'contexts.kubeconfig');
  const users: Record<string, string> = {
    [own]: access.token,
    [guest]: await createUser(cluster, 'guest', shop, false),
    [away]: access.token,
    [expired]: 'expired',
    [stranger]: await mintToken(api, shop, 'default'),
  };
  const write = (): void => {
    const ca = Buffer.from(access.ca).toString('base64');
    const config = {
      users: Object.entries(users).map(([name, token]) => ({ name, user: { token } })),
      clusters: Object.entries({ here: access.server, away: 'https://127.0.0.1:1' }).map(([name, server]) => ({
        name,
        cluster: { server, 'certificate-authority-data': ca },
      })),
      contexts: Object.keys(users).map((name) => ({
        name,
        context: { cluster: name === away ? 'away' : 'here', user: name },
      })),
    };
    writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  };
  write();
  const flags = [`--kubeconfig=${kubeconfig}`, '--no-browser', `--namespace=${shop}`];
  const { program, said } = await serve(
    'dashboard-contexts',
    [...flags, `--contexts=${Object.keys(users).join()}`],
    /http:\/\/127\.0\.0\.1:\d+/,
  );
  const [address = ''] = /http:\/\/\S+/.exec(said) ?? [];
  const headers = await openAddress(address);
  const silent = await silentBeside(address, headers, [own, guest]);
  assert.deepEqual(Object.keys(silent), [away, expired, stranger]);
  assert.match(
    silent[away] ?? '',
    /^cannot reach the API server https:\/\/127\.0\.0\.1:1 \(connect ECONNREFUSED .*\): /,
  );
  assert.match(
    silent[expired] ?? '',
    /^the API server rejected the credentials of context expired \(Unauthorized\): log in/,
  );
  assert.match(
    silent[stranger] ?? '',
    /^daemonrollouts\.edgeset\.io is forbidden: User .* cannot list .*: ask your cluster administrator /,
  );

  const run = async (of: string): Promise<{ failed: boolean; output: string; typed: string }> => {
    const body = JSON.stringify({
      command: 'pause',
      cluster: of,
      namespace: shop,
      kind: 'ds',
      name: 'web',
      dryRun: true,
    });
    const sent = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };
    return (await fetch(new URL('/api/commands', address), sent)).json() as ReturnType<typeof run>;
  };
  const done = await run(own);
  assert.deepEqual(
    [done.failed, done.typed],
    [false, `edgeset pause ds/web -n ${shop} --context ${own} --kubeconfig ${kubeconfig}`],
  );
  const refused = await run(guest);
  assert.match(refused.output, /cannot patch resource "daemonsets"/);
  assert.match(refused.typed, / --context 'Käse & 東京' /);
  assert.match((await run(away)).output, /^cannot reach the API server https:\/\/127\.0\.0\.1:1 /);

  // As a login does it.
  users[expired] = access.token;
  write();
  assert.deepEqual(Object.keys(await silentBeside(address, headers, [own, guest, expired])), [away, stranger]);
  await program.stop(30_000);
});
