import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { eventually } from '../../test/support/index.ts';
import { openStage } from './in-cluster/testing/stage.ts';

type Stage = Awaited<ReturnType<typeof openStage>>;
const soon = { everyMs: 10 };
const PROXY = '127.0.0.9';

/** A socket from this address, which sends what it is told; it may have been closed by the server. */
const open = async (t: TestContext, stage: Stage, localAddress: string, send = ''): Promise<Socket> => {
  const socket = connect({ port: stage.server.port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  t.after(() => socket.destroy());
  await once(socket, 'connect').catch(() => undefined);
  socket.write(send);
  // Without it, a socket does not notice that it was closed.
  if (send === '') socket.resume();
  return socket;
};
const openMany = (t: TestContext, stage: Stage, count: number, address: string, send?: string): Promise<Socket[]> =>
  Promise.all(Array.from({ length: count }, () => open(t, stage, address, send)));
const openOf = (sockets: readonly Socket[]): number => sockets.filter(({ readyState }) => readyState === 'open').length;
const get = (stage: Stage, path = '/'): string => `GET ${path} HTTP/1.1\r\nHost: ${stage.address}\r\n\r\n`;

describe('connections of strangers', () => {
  it('are some for each address, the newest, and no hindrance to others', async (t) => {
    const stage = await openStage(t);
    const cookie = await stage.sessionOf('ann');
    const stream = await stage.open('/api/rollouts', { cookie }, '127.0.0.2');
    const held = await openMany(t, stage, 100, '127.0.0.2');
    await eventually('the oldest are closed', () => openOf(held) === 64, soon);
    assert.equal(held.at(-1)?.readyState, 'open');
    assert.equal(stream.isOver(), false, 'who is logged in is no stranger');
    for (const from of ['127.0.0.2', '127.0.0.3'])
      assert.equal((await stage.call({ path: '/', from })).status, 200, from);

    const more: Socket[] = [];
    for (const from of ['127.0.0.4', '127.0.0.5', '127.0.0.6']) more.push(...(await openMany(t, stage, 64, from)));
    const [other] = await openMany(t, stage, 1, '127.0.0.7');
    await eventually('who has most gives way', () => openOf([...held, ...more]) <= 255, soon);
    assert.equal((await stage.call({ path: '/', from: '127.0.0.8' })).status, 200);
    assert.equal(other?.readyState, 'open');
    assert.equal(stream.isOver(), false);
  });

  it('begin only so often from one address', async (t) => {
    const stage = await openStage(t);
    const attempts = await Promise.all(
      Array.from({ length: 200 }, () =>
        stage
          .call({ path: '/', from: '127.0.0.2' })
          .then(() => 1)
          .catch(() => 0),
      ),
    );
    const answered = attempts.reduce<number>((sum, one) => sum + one, 0);
    assert.ok(answered <= 128, `${answered} were answered`);
    assert.equal((await stage.call({ path: '/', from: '127.0.0.3' })).status, 200);
    await stage.clock.advance(1_000);
    assert.equal((await stage.call({ path: '/', from: '127.0.0.2' })).status, 200);
  });

  it('begin only so often from all addresses that nobody was admitted from', async (t) => {
    const stage = await openStage(t);
    const headers = { cookie: await stage.sessionOf('ann') };
    const ask = (from: string, path = '/') =>
      stage.call({ path, from, headers }).then(
        ({ status }) => status,
        () => 0,
      );
    assert.equal(await ask('127.0.0.9', '/api/session'), 200);
    const flood = async (count: number, addresses: number): Promise<number> => {
      const asked = Array.from({ length: count }, (_, at) => ask(`127.0.1.${at % addresses}`));
      return (await Promise.all(asked)).filter((status) => status === 200).length;
    };
    assert.ok((await flood(300, 10)) <= 256);
    await stage.clock.advance(1_000);
    assert.ok((await flood(300, 10)) <= 80);
    assert.equal(await ask('127.0.0.10'), 200, 'who connects little comes in beside them');
    assert.ok((await flood(250, 250)) < 250);
    assert.equal(await ask('127.0.0.11'), 0, 'not beside hundreds of addresses');
    assert.equal(await ask('127.0.0.9'), 200, 'who was there before comes in');
  });

  it('are closed after each response when there are many', async (t) => {
    const stage = await openStage(t);
    const connectionOf = async (headers: Record<string, string>) =>
      (await stage.call({ path: '/api/session', from: '127.0.0.2', headers: { connection: 'keep-alive', ...headers } }))
        .headers.connection;
    const cookie = await stage.sessionOf('ann');
    assert.equal(await connectionOf({}), 'keep-alive');
    await openMany(t, stage, 40, '127.0.0.2');
    await eventually('all are accepted', () => stage.server.connections > 40, soon);
    assert.equal(await connectionOf({}), 'close');
    assert.equal(await connectionOf({ cookie }), 'keep-alive');
  });

  it('share an address without hindrance where that is a proxy, which says whose they are', async (t) => {
    const stage = await openStage(t, { isProxy: (address) => address === PROXY });
    const held = await openMany(t, stage, 150, PROXY);
    const logIn = (client: string): Promise<number> =>
      stage
        .call({
          method: 'POST',
          path: '/api/session',
          from: PROXY,
          body: JSON.stringify({ token: 'guess' }),
          headers: { origin: stage.origin, ...stage.asJson, 'x-forwarded-for': `9.9.9.9, ${client}, ${PROXY}` },
        })
        .then(({ status }) => status);
    for (let count = 0; count < 20; count += 1) assert.equal(await logIn('192.0.2.1'), 401);
    assert.equal(await logIn('192.0.2.1'), 429);
    assert.equal(await logIn('192.0.2.2'), 401, 'another caller has a limit of their own');
    assert.equal(openOf(held), 150);
  });
});

describe('a connection', () => {
  it('has one request at a time', async (t) => {
    const stage = await openStage(t);
    const socket = await open(t, stage, '127.0.0.2', get(stage).repeat(30));
    const said = await text(socket).catch(() => '');
    assert.ok(said.split('HTTP/1.1 200').length <= 2, said);
    const patient = await open(t, stage, '127.0.0.2', get(stage));
    for (let count = 0; count < 3; count += 1) {
      const [chunk] = (await once(patient, 'data')) as [Buffer];
      assert.match(chunk.toString(), /^HTTP\/1\.1 200/);
      patient.write(get(stage));
    }
  });

  it('ends when its client does not read', async (t) => {
    const body = 'x'.repeat(16 * 1024 * 1024);
    const page = async () => [{ path: '/', contentType: 'text/html', body, etag: '"1"' }];
    const stage = await openStage(t, { page });
    const lazy = await open(t, stage, '127.0.0.2', get(stage));
    lazy.pause();
    const closed = once(lazy, 'close');
    await eventually('it gets its response', () => lazy.bytesRead > 0, soon);
    await stage.clock.advance(15_000);
    assert.equal(stage.server.connections, 1, 'it may be slow');
    await stage.clock.advance(10_000);
    await eventually('it is closed', () => stage.server.connections === 0, soon);
    lazy.resume();
    await closed;
    assert.equal((await stage.call({ path: '/' })).body.length, body.length);
  });
});
