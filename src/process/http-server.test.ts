import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createLogger, type LogFields } from '../runtime/index.ts';
import { createHealth, type EndpointOptions, startEndpoints } from './endpoints.ts';
import { parseBindAddress } from './flags.ts';
import { type Routes, startHttpServer, text } from './http-server.ts';

const loopback = { host: '127.0.0.1', port: 0 };

const serve = async (t: TestContext, routes: Routes): Promise<string> => {
  const server = await startHttpServer(loopback, routes, '--test-address');
  t.after(() => server.close());
  return `http://${server.address}`;
};

test('a route answers GET and HEAD with any query', async (t) => {
  const url = await serve(t, { '/a': () => text(200, 'body') });
  const got = await fetch(`${url}/a?x=1`);
  assert.equal(got.status, 200);
  assert.equal(await got.text(), 'body\n');
  const head = await fetch(`${url}/a`, { method: 'HEAD' });
  assert.equal(head.headers.get('content-length'), '5');
  assert.equal(await head.text(), '');
});

test('other methods and other paths are refused', async (t) => {
  const url = await serve(t, { '/a': () => text(200, 'body') });
  const post = await fetch(`${url}/a`, { method: 'POST', body: 'x' });
  assert.equal(post.status, 405);
  assert.equal(post.headers.get('allow'), 'GET, HEAD');
  for (const path of ['/', '/A', '/a/', '/toString', '/__proto__'])
    assert.equal((await fetch(url + path)).status, 404, path);
});

test('a route that fails answers 500, and the server continues', async (t) => {
  const url = await serve(t, {
    '/bad': () => {
      throw new Error('broken page');
    },
    '/good': () => text(200, 'fine'),
  });
  assert.equal((await fetch(`${url}/bad`)).status, 500);
  assert.equal((await fetch(`${url}/good`)).status, 200);
});

test('reports an address in use with the flag', async (t) => {
  const first = await startHttpServer(loopback, {}, '--test-address');
  t.after(() => first.close());
  const taken = parseBindAddress('--test-address', first.address);
  assert.ok(taken);
  await assert.rejects(startHttpServer(taken, {}, '--test-address'), (error) => {
    assert.ok(error instanceof Error && 'code' in error);
    assert.equal(error.code, 'CannotListen');
    assert.match(error.message, /EADDRINUSE.*--test-address, or 0 for none/);
    return true;
  });
});

test('closing does not wait for requests that hang', { timeout: 60_000 }, async () => {
  const asked = Promise.withResolvers<void>();
  const hang = (): Promise<never> => {
    asked.resolve();
    return new Promise(() => undefined);
  };
  const server = await startHttpServer(loopback, { '/hang': hang }, '--test-address');
  const cut = assert.rejects(fetch(`http://${server.address}/hang`));
  await asked.promise;
  await server.close();
  await cut;
});

const start = async (t: TestContext, options: EndpointOptions) => {
  const lines: LogFields[] = [];
  const log = createLogger({ write: (line) => lines.push(JSON.parse(line) as LogFields), now: () => 0 });
  const health = createHealth();
  const metrics = { render: async () => ({ contentType: 'text/plain; version=0.0.4', body: 'up 1\n' }) };
  const endpoints = await startEndpoints(log, options, { health, metrics });
  t.after(() => endpoints.close());
  const address = (msg: string): string => `http://${String(lines.find((line) => line.msg === msg)?.address)}`;
  return { lines, health, metrics: address('serving metrics'), probes: address('serving health probes') };
};
const status = async (url: string): Promise<number> => (await fetch(url)).status;

test('serves metrics and probes at their own addresses, which it logs', async (t) => {
  const { metrics, probes } = await start(t, { metrics: loopback, health: loopback });
  assert.notEqual(metrics, probes);
  const scraped = await fetch(`${metrics}/metrics`);
  assert.equal(await scraped.text(), 'up 1\n');
  assert.match(scraped.headers.get('content-type') ?? '', /version=0\.0\.4/);
  assert.equal(await status(`${metrics}/healthz`), 404);
  assert.equal(await status(`${probes}/healthz`), 200);
  assert.equal(await status(`${probes}/metrics`), 404);
});

test('equal addresses share one socket', async (t) => {
  const probe = await startHttpServer(loopback, {}, '--test-address');
  await probe.close();
  const shared = parseBindAddress('--test-address', probe.address);
  const { metrics, probes } = await start(t, { metrics: shared, health: shared });
  assert.equal(metrics, probes);
  assert.equal(await status(`${metrics}/metrics`), 200);
  assert.equal(await status(`${metrics}/readyz`), 200);
});

test('does not serve a disabled address', async (t) => {
  const { lines } = await start(t, { metrics: undefined, health: undefined });
  assert.deepEqual(lines, []);
});

test('stops the probes when the other address cannot be bound', async (t) => {
  const taken = await startHttpServer(loopback, {}, '--test-address');
  t.after(() => taken.close());
  const free = await startHttpServer(loopback, {}, '--test-address');
  await free.close();
  const metrics = parseBindAddress('--m', free.address);
  const health = parseBindAddress('--h', taken.address);
  await assert.rejects(start(t, { metrics, health }), { code: 'CannotListen' });
  await assert.rejects(fetch(`http://${free.address}/metrics`));
});

test('readyz names what is missing until everything is ready', async (t) => {
  const { health, probes } = await start(t, { metrics: undefined, health: loopback });
  let missing: string | undefined = 'caches have not synced';
  health.check('native', () => missing);
  health.check('other', () => undefined);
  const before = await fetch(`${probes}/readyz`);
  assert.equal(before.status, 503);
  assert.equal(await before.text(), '[-] native: caches have not synced\n[+] other ok\nnot ready\n');
  assert.equal(await status(`${probes}/healthz`), 200);
  missing = undefined;
  assert.equal(await status(`${probes}/readyz`), 200);
});

test('more connections wait for a busy server than Node queues by default', {
  skip: process.platform !== 'linux' && 'how other systems queue is another matter',
  timeout: 20_000,
}, async (t) => {
  const program = `
    const { listenOn } = await import(${JSON.stringify(join(import.meta.dirname, 'http-server.ts'))});
    const server = (await import('node:net')).createServer();
    console.log(await listenOn(server, { host: '127.0.0.1', port: 0 }, (_, cause) => cause));`;
  const server = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => server.kill('SIGKILL'));
  const [port] = (await once(server.stdout, 'data')) as [Buffer];
  server.kill('SIGSTOP');
  const sockets = Array.from({ length: 1_000 }, () => connect(Number(port), '127.0.0.1'));
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  // One that finds the queue full is not connected while the server stands still.
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
});
