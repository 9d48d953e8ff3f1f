import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { sendJson, startJson, startTestServer, type TestServer, writeText } from '../../../test/support/index.ts';
import { isKubeError } from '../client/errors.ts';
import { createTestClient, testIdentity, testPods, trusting } from '../testing/index.ts';

const identity = testIdentity;
const pod = { metadata: { name: 'x', namespace: 'a', uid: 'x', resourceVersion: '1' } };
const ref = { namespace: 'a', name: 'x' };

const portOf = (server: { address(): string | { port: number } | null }): number => {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
};

const startApi = async (t: TestContext): Promise<TestServer> => {
  const server = await startTestServer({ protocol: 'h2', identity }, (request, response) => {
    if (!request.url?.includes('watch')) return sendJson(response, pod);
    startJson(response);
    writeText(response, `${JSON.stringify({ type: 'ADDED', object: pod })}\n`);
  });
  t.after(() => server.close());
  return server;
};

const startHttpProxy = async (t: TestContext, answer: (request: IncomingMessage) => string) => {
  const tunnels: string[] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer();
  proxy.on('connect', (request: IncomingMessage, inner: Socket) => {
    tunnels.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`);
    sockets.add(inner);
    inner.on('error', () => undefined);
    const line = answer(request);
    if (!line.includes('200')) return void inner.end(`${line}\r\n\r\n`);
    const outer = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1', () => {
      inner.write(`${line}\r\n\r\n`);
      inner.pipe(outer).pipe(inner);
    });
    outer.on('error', () => inner.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return { port: portOf(proxy), tunnels };
};

const useClient = (t: TestContext, server: string, proxyUrl: string) => {
  const client = createTestClient(server, { ...trusting, proxyUrl }, { maxRetries: 0 });
  t.after(() => client.close());
  return client;
};

test('one tunnel through an HTTP proxy carries calls and watches over HTTP/2, with the login', async (t) => {
  const api = await startApi(t);
  const proxy = await startHttpProxy(t, () => 'HTTP/1.1 200 OK');
  const client = useClient(t, api.url, `http://us%40er:p%3Ass@127.0.0.1:${proxy.port}`);
  await Promise.all(Array.from({ length: 10 }, () => client.get(testPods, ref)));
  for await (const event of client.watch(testPods)) {
    assert.equal(event.type, 'ADDED');
    break;
  }
  assert.deepEqual(proxy.tunnels, [`127.0.0.1:${api.port} Basic ${btoa('us@er:p:ss')}`]);
});

test('an IPv6 address is in brackets, for the proxy and for the server', async (t) => {
  const hosts: unknown[] = [];
  const server = await startTestServer({ protocol: 'h2', identity }, (request, response) => {
    hosts.push(request.headers[':authority']);
    sendJson(response, pod);
  });
  t.after(() => server.close());
  const proxy = await startHttpProxy(t, () => 'HTTP/1.1 200 OK');
  const config = { ...trusting, tlsServerName: 'localhost', proxyUrl: `http://127.0.0.1:${proxy.port}` };
  const client = createTestClient(`https://[::1]:${server.port}`, config, { maxRetries: 0 });
  t.after(() => client.close());
  await client.get(testPods, ref);
  assert.deepEqual([...proxy.tunnels, ...hosts], [`[::1]:${server.port} `, `[::1]:${server.port}`]);
});

test('a refusal by the proxy is reported, and nothing has happened', async (t) => {
  const api = await startApi(t);
  const proxy = await startHttpProxy(t, () => 'HTTP/1.1 407 Proxy Authentication Required');
  const client = useClient(t, api.url, `http://127.0.0.1:${proxy.port}`);
  await assert.rejects(client.create(testPods, pod), (error) => {
    assert.ok(isKubeError(error, 'Transport'));
    assert.equal(error.happened, 'no');
    assert.match(error.message, /refused the tunnel with HTTP 407/);
    return true;
  });
  const unreachable = useClient(t, api.url, 'http://127.0.0.1:1');
  await assert.rejects(unreachable.create(testPods, pod), { code: 'Transport', happened: 'no' });
});

test('connects through a SOCKS5 proxy', async (t) => {
  const api = await startApi(t);
  let tunnels = 0;
  let refuse = false;
  const sockets = new Set<Socket>();
  const proxy = createTcpServer((inner) => {
    sockets.add(inner);
    inner.on('error', () => undefined);
    inner.once('data', () => {
      inner.write(Buffer.from([5, 0]));
      inner.once('data', (request: Buffer) => {
        tunnels += 1;
        if (refuse) return void inner.end(Buffer.from([5, 5, 0, 1, 0, 0, 0, 0, 0, 0]));
        assert.deepEqual([...request.subarray(0, 8)], [5, 1, 0, 1, 127, 0, 0, 1]);
        const outer = connect(request.readUInt16BE(request.length - 2), '127.0.0.1', () => {
          inner.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
          inner.pipe(outer).pipe(inner);
        });
        outer.on('error', () => inner.destroy());
      });
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const client = useClient(t, api.url, `socks5://127.0.0.1:${portOf(proxy)}`);
  await client.get(testPods, ref);
  for await (const event of client.watch(testPods)) {
    assert.equal(event.type, 'ADDED');
    break;
  }
  assert.equal(tunnels, 1, 'HTTP/2 here as well');
  refuse = true;
  const refused = useClient(t, api.url, `socks5://127.0.0.1:${portOf(proxy)}`);
  await assert.rejects(refused.create(testPods, pod), {
    code: 'Transport',
    happened: 'no',
    message: /connection refused/,
  });
});
