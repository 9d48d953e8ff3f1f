import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { constants } from 'node:http2';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { eventually, onBody, sendJson, startJson, startTestServer, writeText } from '../../../test/support/index.ts';
import { isKubeError } from '../client/errors.ts';
import type { WatchEvent } from '../client/types.ts';
import { createTestClient, serve, testIdentity, testPods, trusting } from '../testing/index.ts';

const identity = testIdentity;
const pod = (name: string, resourceVersion = '1') => ({
  metadata: { name, namespace: 'a', resourceVersion, uid: name },
});
const line = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;
const overHttp2 = { protocol: 'h2', config: trusting } as const;

test('fifty watches and forty reads share one HTTP/2 connection, and ending a watch closes only its stream', async (t) => {
  let open = 0;
  const { server, client } = await serve(
    t,
    (request, response) => {
      if (!request.url?.includes('watch=true')) return sendJson(response, pod('x'));
      open += 1;
      response.on('close', () => {
        open -= 1;
      });
      startJson(response);
      writeText(response, line('ADDED', pod('x')));
    },
    {},
    { ...overHttp2 },
  );
  const stops = Array.from({ length: 50 }, () => new AbortController());
  const seen: WatchEvent<Pod>[] = [];
  const outcomes = stops.map(async ({ signal }) => {
    for await (const event of client.watch(testPods, { signal })) seen.push(event);
  });
  const settled = Promise.allSettled(outcomes);
  await eventually('all watches have their event', () => seen.length === 50);
  await Promise.all(Array.from({ length: 40 }, () => client.get(testPods, { namespace: 'a', name: 'x' })));
  assert.equal(server.connections, 1);
  stops.slice(0, 49).forEach((stop) => stop.abort(new Error('enough')));
  await eventually('the left streams are closed', () => open === 1);
  assert.equal(server.connections, 1);
  await client.get(testPods, { namespace: 'a', name: 'x' });
  stops[49]?.abort(new Error('enough'));
  for (const outcome of await settled) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof Error);
    assert.equal(outcome.reason.message, 'enough');
  }
});

test('calls beyond the stream limit of the server wait or use another connection, and all complete', async (t) => {
  const { client } = await serve(
    t,
    (_request, response) => {
      setTimeout(() => sendJson(response, pod('x')), 5);
    },
    {},
    { ...overHttp2, maxConcurrentStreams: 5 },
  );
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => client.get(testPods, { namespace: 'a', name: 'x' })),
  );
  assert.equal(answers.length, 100);
});

test('writes that are aborted before their bodies have left do not block the process', async () => {
  const server = await startTestServer({ protocol: 'h2', identity }, (request, response) => {
    // Bodies fill the connection's window.
    if (request.method === 'GET') sendJson(response, pod('x'));
  });
  const child = path.join(import.meta.dirname, '..', 'testing', 'give-up-writes.ts');
  const running = spawn(process.execPath, [child, server.url], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  running.stdout.on('data', (data: Buffer) => {
    said += data.toString();
  });
  try {
    await eventually('the process reads again, and ends', () => running.exitCode !== null);
    assert.equal(said, 'rejected rejected rejected rejected\nread again\n');
  } finally {
    running.kill('SIGKILL');
    await server.close();
  }
});

test('after a GOAWAY running streams finish, and new calls use a new connection', async (t) => {
  const streams: { write(text: string): void; end(): void }[] = [];
  const { server, client } = await serve(
    t,
    (request, response) => {
      if (!request.url?.includes('watch=true')) return sendJson(response, pod('x'));
      startJson(response);
      writeText(response, line('ADDED', pod('first')));
      streams.push(response);
    },
    {},
    { ...overHttp2 },
  );
  const names: (string | undefined)[] = [];
  const watching = (async () => {
    for await (const event of client.watch(testPods))
      if (event.type !== 'BOOKMARK') names.push(event.object.metadata?.name);
  })();
  await eventually('the first event', () => names.length === 1);
  for (const session of server.sessions) session.goaway(0);
  await client.get(testPods, { namespace: 'a', name: 'x' });
  assert.equal(server.connections, 2);
  streams[0]?.write(line('ADDED', pod('after goaway')));
  await eventually('an event after the GOAWAY', () => names.length === 2);
  streams[0]?.end();
  await watching;
  assert.deepEqual(names, ['first', 'after goaway']);
});

test('a response whose stream the server cancels is incomplete', async (t) => {
  const { client } = await serve(
    t,
    (_request, response) => {
      startJson(response);
      writeText(response, JSON.stringify(pod('x')));
      if ('stream' in response) setTimeout(() => response.stream.close(constants.NGHTTP2_CANCEL), 20);
    },
    { maxRetries: 0 },
    { ...overHttp2 },
  );
  await assert.rejects(client.create(testPods, pod('x')), { code: 'Transport', happened: 'unknown' });
});

test('while the server is down calls fail as not sent; they work again when it is back', async () => {
  const relay = await startRelay(0);
  const server = await startTestServer({ protocol: 'h2', identity }, (_request, response) =>
    sendJson(response, pod('x')),
  );
  relay.setTarget(server.port);
  const client = createTestClient(relay.url, trusting, { maxRetries: 0 });
  try {
    for (let round = 0; round < 3; round += 1) {
      await client.create(testPods, pod('x'));
      relay.setTarget(1);
      relay.reset();
      // The first may still be written into the dead connection.
      await assert.rejects(client.create(testPods, pod('x')), { code: 'Transport' });
      for (let attempt = 0; attempt < 3; attempt += 1) {
        await assert.rejects(client.create(testPods, pod('x')), { code: 'Transport', happened: 'no' });
      }
      relay.setTarget(server.port);
    }
    await client.create(testPods, pod('x'));
    assert.equal(server.requests.length, 4);
  } finally {
    await client.close();
    relay.close();
    await server.close();
  }
});

test('closing while the first connection is established leaves no socket open', async () => {
  const server = await startTestServer({ protocol: 'h2', identity }, (_request, response) =>
    sendJson(response, pod('x')),
  );
  try {
    const client = createTestClient(server.url, trusting, { maxRetries: 0 });
    const stop = new AbortController();
    const calling = client.get(testPods, { namespace: 'a', name: 'x' }, { signal: stop.signal });
    stop.abort(new Error('enough'));
    await assert.rejects(calling, { message: 'enough' });
    const other = client.get(testPods, { namespace: 'a', name: 'x' });
    await client.close();
    await assert.rejects(other, (error) => isKubeError(error));
    await eventually('no connection is open', () => server.sockets.size === 0);
  } finally {
    await server.close();
  }
});

test('writes during a GOAWAY complete or are reported as unknown, and never reach the server twice', async (t) => {
  const writes = new Map<string, number>();
  const { server, client } = await serve(
    t,
    (request, response) => {
      onBody(request, (body) => {
        const { metadata } = JSON.parse(body) as { metadata: { name: string } };
        writes.set(metadata.name, (writes.get(metadata.name) ?? 0) + 1);
        setImmediate(() => sendJson(response, pod(metadata.name)));
      });
    },
    {},
    { ...overHttp2 },
  );
  let unknown = 0;
  for (let round = 0; round < 20; round += 1) {
    const names = Array.from({ length: 5 }, (_, at) => `w${round}-${at}`);
    const writing = Promise.allSettled(names.map((name) => client.create(testPods, pod(name))));
    if (round % 2 === 0) for (const session of server.sessions) session.close();
    (await writing).forEach((outcome, at) => {
      if (outcome.status === 'fulfilled') assert.equal(writes.get(names[at] ?? ''), 1);
      else {
        assert.ok(isKubeError(outcome.reason, 'Transport'));
        assert.equal(outcome.reason.happened, 'unknown');
        unknown += 1;
      }
    });
  }
  assert.ok([...writes.values()].every((count) => count === 1));
  assert.ok(unknown < 100);
});

/** Relays TCP, and swallows all packets on request, as a mobile network may. */
const startRelay = async (port: number) => {
  let target = port;
  const pairs: [Socket, Socket][] = [];
  let silent = false;
  let connections = 0;
  let answers = 0;
  const server = createTcpServer((inner) => {
    connections += 1;
    const outer = connect(target, '127.0.0.1');
    pairs.push([inner, outer]);
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      from.on('data', (chunk) => void (silent || to.write(chunk)));
      from.on('error', () => undefined);
      from.on('close', () => void (silent || to.destroy()));
    }
    outer.on('data', () => void (answers += 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `https://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    setSilent: (value: boolean) => {
      silent = value;
    },
    setTarget: (next: number) => {
      target = next;
    },
    reset: () => {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
    },
    get connections() {
      return connections;
    },
    /** Packets from the server. */
    get answers() {
      return answers;
    },
    close: () => {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      server.close();
    },
  };
};

test('a connection that swallows packets is detected by missing PING answers and replaced', async () => {
  const server = await startTestServer({ protocol: 'h2', identity }, (request, response) => {
    if (!request.url?.includes('watch=true')) return sendJson(response, pod('x'));
    startJson(response);
    writeText(response, line('ADDED', pod('x')));
  });
  const relay = await startRelay(server.port);
  const client = createTestClient(relay.url, trusting, { deadAfterMs: 600 });
  try {
    let events = 0;
    const watching = (async () => {
      for await (const _ of client.watch(testPods)) events += 1;
    })();
    const failed = assert.rejects(watching, (error) => isKubeError(error, 'Transport'));
    await eventually('the first event', () => events === 1);
    // Healthy silence, but for the answers to several times as many PINGs as the limit has.
    const answered = relay.answers;
    await eventually('the PINGs are answered', () => relay.answers >= answered + 8);
    assert.equal(relay.connections, 1);
    const before = Date.now();
    relay.setSilent(true);
    await failed;
    assert.ok(Date.now() - before < 3000, `took ${Date.now() - before} ms`);
    relay.setSilent(false);
    await client.get(testPods, { namespace: 'a', name: 'x' });
    assert.equal(relay.connections, 2);
  } finally {
    await client.close();
    relay.close();
    await server.close();
  }
});
