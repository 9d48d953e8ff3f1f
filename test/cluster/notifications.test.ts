import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { systemClock } from '../../src/runtime/index.ts';
import type { Manager } from '../conformance/index.ts';
import {
  createTestAuthority,
  eventually,
  onBody,
  sendJson,
  startTestServer,
  type TestServer,
} from '../support/index.ts';
import { autoDaemonSet } from './auto-daemon-set.ts';
import { type RealCluster, startCluster } from './index.ts';
import { startManager } from './manager.ts';

const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const authority = createTestAuthority();

interface Received {
  id: string;
  /** The end of the event's type, such as `halted`. */
  kind: string;
  revision: string;
}

let cluster: RealCluster;
let server: TestServer;
/** What the receiver has accepted. */
const received: Received[] = [];
/** It answers 503 while it is down, from the first notification until the next leader. */
let down = false;
before(async () => {
  server = await startTestServer({ protocol: 'https', identity: authority.issue('receiver') }, (request, response) => {
    const { headers } = request;
    onBody(request, (body) => {
      if (down) {
        sendJson(response, {}, 503);
        return;
      }
      const event = new Webhook(KEY).verify(body, headers as Record<string, string>) as {
        id: string;
        type: string;
        data: { revision: string };
      };
      // Before the halt can come.
      if (received.length === 0) down = true;
      received.push({
        id: event.id,
        kind: event.type.replace('io.edgeset.rollout.', ''),
        revision: event.data.revision,
      });
      sendJson(response, {}, 202);
    });
  });
  cluster = await startCluster();
});
after(async () => {
  await server.close();
  await cluster.stop();
});

const applyApp = (namespace: string, image: string, name = 'app'): Promise<unknown> =>
  cluster.plane.api.apply(`/apis/apps/v1/namespaces/${namespace}/daemonsets/${name}`, autoDaemonSet(name, image));

interface Status {
  conditions?: { type: string; status: string }[];
  notifications?: { pending: { kind: string }[] };
}

const statusOfApp = async (namespace: string, name = 'app'): Promise<Status> => {
  const path = `/apis/edgeset.io/v1alpha1/namespaces/${namespace}/daemonrollouts/${name}`;
  return (await cluster.plane.api.get<{ status?: Status }>(path)).status ?? {};
};

const isTrueOfApp = async (namespace: string, type: string, name?: string): Promise<boolean> =>
  (await statusOfApp(namespace, name)).conditions?.some((each) => each.type === type && each.status === 'True') ??
  false;

test('each notification of a rollout arrives once, also when leaders are killed', async () => {
  const { dir } = cluster.plane;
  await cluster.addNodes(['n1', 'n2']);
  const namespace = await cluster.createNamespace('notify');
  const setImage = (image: string): Promise<unknown> => applyApp(namespace, image);
  const file = join(dir, 'notifications.yaml');
  const configure = (targets: unknown[]): Promise<void> => writeFile(file, JSON.stringify({ targets }));
  await configure([
    {
      name: 'bus',
      type: 'webhook',
      url: `${server.url}/in`,
      keys: [KEY],
      ca: authority.cert,
      namespaces: ['notify-*'],
    },
  ]);

  const managers: Manager[] = [];
  const start = async (): Promise<Manager> => {
    const manager = await cluster.startManager({
      namespace,
      args: [
        '--leader-elect=true',
        `--leader-election-namespace=${namespace}`,
        '--leader-election-lease-duration=4s',
        '--leader-election-renew-deadline=3s',
        '--leader-election-retry-period=500ms',
        `--notifications-config=${file}`,
      ],
    });
    managers.push(manager);
    return manager;
  };
  const pending = async (): Promise<string> =>
    ((await statusOfApp(namespace)).notifications?.pending ?? []).map(({ kind }) => kind).join(' ');
  const until = (what: string, probe: () => Promise<unknown> | boolean): Promise<unknown> =>
    eventually(what, probe, { everyMs: 100 }).catch(async (cause) => {
      throw new Error((await Promise.all(managers.map((each) => each.log()))).join('\n'), { cause });
    });
  const isTrue = (type: string) => (): Promise<boolean> => isTrueOfApp(namespace, type);
  const kinds = (): string => received.map(({ kind }) => kind).join(' ');

  await setImage('app:v1');
  let leader = await start();
  await until('the first template is everywhere', isTrue('AllNodesUpdated'));
  assert.equal(kinds(), '', 'the first target is no rollout');

  await setImage('app:v2--crash-loop');
  await until('it has started', () => kinds() === 'started');
  await until('it is halted', isTrue('Halted'));
  await until('the receiver is asked in vain', async () => (await pending()).includes('halted'));
  leader.kill('SIGKILL');
  await leader.exit;
  down = false;
  leader = await start();
  await until(
    'the next leader delivers the halt',
    async () => kinds() === 'started halted' && (await pending()) === '',
  );

  leader.kill('SIGKILL');
  await leader.exit;
  leader = await start();
  await setImage('app:v3');
  await until('the new rollout is complete', () => received.length >= 5);
  await until('all is on record', async () => (await pending()) === '');
  assert.equal(kinds(), 'started halted started completed all-nodes-updated');
  assert.equal(new Set(received.map(({ id }) => id)).size, 5);

  const metrics = await (await fetch(`${leader.metrics}/metrics`)).text();
  assert.match(metrics, /^edgeset_notifications_total\{target="bus",result="delivered"\} 3$/m);

  await writeFile(file, 'targets: 7');
  await until('the log says why the new configuration is not used', async () =>
    (await leader.log()).includes('targets: must be a list of targets'),
  );
  assert.equal((await fetch(`${leader.probes}/readyz`)).status, 200);
  await setImage('app:v4');
  await until('the last good one is still used', () => received.length >= 8);
  await leader.stop();
});

test('a target hears in time while others are dead, however much waits for them, and those are asked little', async () => {
  const lags: number[] = [];
  const good = await startTestServer({ protocol: 'http' }, (request, response) =>
    onBody(request, (body) => {
      lags.push(systemClock.now() - Date.parse((JSON.parse(body) as { time: string }).time));
      sendJson(response, {}, 202);
    }),
  );
  const failing = await startTestServer({ protocol: 'http' }, (_, response) => sendJson(response, {}, 500));
  const silent = await startTestServer({ protocol: 'http' }, () => undefined);
  await cluster.addNodes(['d1']);
  const namespace = await cluster.createNamespace('dead');
  const file = join(cluster.plane.dir, 'dead.yaml');
  const target = (name: string, { url }: TestServer) => ({ name, type: 'webhook', url, keys: [KEY] });
  const dead = [target('failing', failing), ...Array.from({ length: 14 }, (_, n) => target(`silent-${n}`, silent))];
  await writeFile(file, JSON.stringify({ plainHttpHosts: ['127.0.0.1'], targets: [...dead, target('good', good)] }));
  const manager = await startManager(cluster.plane, {
    namespace,
    args: ['--leader-elect=false', `--namespaces=${namespace}`, `--notifications-config=${file}`],
  });
  const names = Array.from({ length: 10 }, (_, n) => `app${n}`);
  const release = async (image: string): Promise<void> => {
    await Promise.all(names.map((name) => applyApp(namespace, image, name)));
    for (const name of names)
      await eventually(`${name} has ${image}`, () => isTrueOfApp(namespace, 'AllNodesUpdated', name), { everyMs: 100 });
  };
  try {
    await release('app:v1');
    await release('app:v2');
    await eventually('the good one has heard all', () => lags.length === 30);
    assert.ok(Math.max(...lags) < 5_000, `${lags.join(' ')} ms after it happened`);
    assert.ok(
      failing.requests.length <= 8,
      `${failing.requests.length} requests to the one that fails: ${await manager.log()}`,
    );
    const log = await manager.log();
    assert.ok(log.includes(`"why":"HTTP 500: {}"`), log);
  } finally {
    await manager.stop();
    await Promise.all([good, failing, silent].map((each) => each.close()));
  }
});

/** A proxy that takes every host of a tunnel for the one at this port, and answers for every host of plain HTTP. */
const startProxy = async (port: number) => {
  const seen: string[] = [];
  const proxy = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    request.resume();
    sendJson(response, {}, 202);
  });
  proxy.on('connect', (request, socket) => {
    seen.push(`CONNECT ${request.url}`);
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    for (const side of [socket, onward]) side.on('error', () => [socket, onward].forEach((each) => each.destroy()));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    seen,
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    close: () => proxy.close(),
  };
};

test('they go through the proxies of HTTP_PROXY and HTTPS_PROXY, but to the hosts of NO_PROXY directly', async () => {
  const hosts = ['secure.example', 'localhost', '127.0.0.1'];
  const receiver = await startTestServer(
    { protocol: 'https', identity: authority.issue('proxied', hosts) },
    (request, response) => {
      request.resume();
      sendJson(response, {}, 202);
    },
  );
  const [forPlain, forTls] = await Promise.all([startProxy(receiver.port), startProxy(receiver.port)]);
  await cluster.addNodes(['p1']);
  const namespace = await cluster.createNamespace('proxied');
  const file = join(cluster.plane.dir, 'proxied.yaml');
  const target = (name: string, url: string) => ({
    name,
    type: 'template',
    url,
    kinds: ['started'],
    body: '{{title}}',
    ...(url.startsWith('https:') && { ca: authority.cert }),
  });
  const targets = [
    target('plain', 'http://plain.example/plain'),
    target('tunnelled', 'https://secure.example/tunnelled'),
    target('direct', `https://localhost:${receiver.port}/direct`),
  ];
  await writeFile(file, JSON.stringify({ plainHttpHosts: ['plain.example'], targets }));
  const manager = await startManager(cluster.plane, {
    namespace,
    args: ['--leader-elect=false', `--namespaces=${namespace}`, `--notifications-config=${file}`],
    // Those in lower case come first.
    env: {
      HTTP_PROXY: forPlain.url,
      HTTPS_PROXY: forTls.url,
      NO_PROXY: 'localhost',
      http_proxy: undefined,
      https_proxy: undefined,
      no_proxy: undefined,
    },
  });
  try {
    await applyApp(namespace, 'app:v1');
    await eventually('the first template is everywhere', () => isTrueOfApp(namespace, 'AllNodesUpdated'));
    await applyApp(namespace, 'app:v2');
    await eventually('each has its notification', async () => {
      const metrics = await (await fetch(`${manager.metrics}/metrics`)).text();
      return targets.every(({ name }) =>
        metrics.includes(`edgeset_notifications_total{target="${name}",result="delivered"} 1`),
      );
    }).catch(async (cause) => {
      throw new Error(await manager.log(), { cause });
    });
    assert.deepEqual(forPlain.seen, ['POST http://plain.example/plain']);
    assert.deepEqual(forTls.seen, ['CONNECT secure.example:443']);
    assert.deepEqual(receiver.requests.toSorted(), ['POST /direct', 'POST /tunnelled']);
  } finally {
    await manager.stop();
    forPlain.close();
    forTls.close();
    await receiver.close();
  }
});
