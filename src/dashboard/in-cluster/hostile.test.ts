import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { eventually } from '../../../test/support/index.ts';
import { SESSION_MS } from './sessions.ts';
import { HOST, openStage, rowOf } from './testing/stage.ts';

const soon = { everyMs: 10 };
const pause = JSON.stringify({ command: 'pause', namespace: 'shop', kind: 'ds', name: 'web' });

describe('requests from elsewhere', () => {
  it('are refused for a name that anybody may let point here', async (t) => {
    const stage = await openStage(t);
    const cookie = await stage.sessionOf('ann');
    for (const host of ['evil.example', `evil.example:443`, `${HOST}.evil.example`, '127.0.0.1', '127.0.0.1.:1'])
      for (const path of ['/', '/api/session', '/api/rollouts'])
        assert.equal((await stage.call({ path, headers: { cookie, host } })).status, 421, `${host}${path}`);
    for (const host of [HOST, `${HOST}:443`, HOST.toUpperCase()])
      assert.equal((await stage.call({ path: '/api/session', headers: { cookie, host } })).status, 200, host);
  });

  it('are refused from pages of other origins, whatever they send, and from those that say none', async (t) => {
    const stage = await openStage(t);
    const cookie = await stage.sessionOf('ann');
    const command = (headers: Record<string, string>) =>
      stage.call({ method: 'POST', path: '/api/commands', headers: { cookie, ...headers }, body: pause });
    const { origin, asJson } = stage;
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: origin.replace('http', 'https') },
      { origin: `http://localhost:${new URL(origin).port}` },
      { origin: `https://${HOST}` },
      { origin, 'sec-fetch-site': 'cross-site' },
      { origin, 'sec-fetch-site': 'same-site' },
      {},
    ])
      assert.equal((await command({ ...asJson, ...headers })).status, 403, JSON.stringify(headers));
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
      assert.equal((await command({ origin, 'content-type': type })).status, 415, type);
    assert.equal(stage.ran.length, 0);

    for (const [method, body] of [
      ['POST', JSON.stringify({ token: 'token-of-root' })],
      ['DELETE', ''],
    ] as const)
      for (const headers of [{}, { origin: 'https://evil.example' }])
        assert.equal(
          (await stage.call({ method, path: '/api/session', headers: { cookie, ...asJson, ...headers }, body })).status,
          403,
          'nobody is logged in as somebody else, or out',
        );
    assert.equal((await stage.call({ path: '/api/labels', headers: { cookie } })).status, 200);
    assert.equal((await command({ origin, ...asJson })).status, 200);
    assert.deepEqual(
      stage.ran.map(([token]) => token),
      ['token-of-ann'],
    );
  });

  it('open the page, where a browser follows a link to it, and nothing else', async (t) => {
    const stage = await openStage(t);
    const cookie = await stage.sessionOf('ann');
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    const status = async (path: string, headers: Record<string, string>, method = 'GET') =>
      (await stage.call({ method, path, headers })).status;
    for (const site of ['cross-site', 'same-site'])
      for (const method of ['GET', 'HEAD'])
        assert.equal(await status('/', { ...link, 'sec-fetch-site': site }, method), 200, `${method} ${site}`);
    assert.equal(await status('/', { ...link, origin: 'https://evil.example' }), 403);
    assert.equal(await status('/', { ...link, host: 'evil.example' }), 421);
    assert.equal(await status('/', link, 'POST'), 403);
    for (const more of [{ 'sec-fetch-dest': 'iframe' }, { 'sec-fetch-mode': 'no-cors' }])
      assert.equal(await status('/', { ...link, ...more }), 403);
    for (const path of ['/api/session', '/api/rollouts', '/api/labels', '/api/rollouts/shop/ds/web'])
      assert.equal(await status(path, { ...link, cookie }), 403, path);
  });

  it('may not repeat what decides, or be meant for a proxy', async (t) => {
    const stage = await openStage(t);
    const send = async (...lines: string[]): Promise<number> => {
      const socket = connect(Number(stage.address.split(':')[1]), '127.0.0.1');
      socket.end([...lines, 'Connection: close', '', ''].join('\r\n'));
      return Number((await text(socket)).split(' ')[1]);
    };
    const host = `Host: ${stage.address}`;
    assert.equal(
      await send('GET /api/session HTTP/1.1', host, 'Authorization: Bearer a', 'Authorization: Bearer b'),
      400,
    );
    assert.equal(await send('GET /api/session HTTP/1.1', host, 'Host: evil.example'), 400);
    assert.equal(await send(`GET http://${stage.address}/api/session HTTP/1.1`, host), 400);
    assert.equal(await send('GET //evil.example/api/session HTTP/1.1', host), 400);
    assert.equal(await send('GET /api/session HTTP/1.1', 'Host:'), 421);
    assert.equal(await send('GET /api/session HTTP/1.1'), 421);
    assert.equal(await send('GET /api/session HTTP/1.1', host), 200);
  });
});

describe('a session', () => {
  it('never has an ID that was there before, and ends the one before', async (t) => {
    const stage = await openStage(t);
    const planted = '__Host-edgeset-dashboard=planted-by-somebody';
    const { headers } = await stage.logIn('token-of-ann', { cookie: planted });
    const [set = ''] = headers['set-cookie'] ?? [];
    assert.match(
      set,
      /^__Host-edgeset-dashboard=[\w-]{43}; Max-Age=28800; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    assert.equal((await stage.call({ path: '/api/labels', headers: { cookie: planted } })).status, 401);
    const [cookie = ''] = set.split(';');
    await stage.logIn('token-of-root', { cookie });
    assert.equal((await stage.call({ path: '/api/labels', headers: { cookie } })).status, 401);
  });

  it('ends after its time, and when its token is revoked, with its streams', async (t) => {
    const stage = await openStage(t);
    const cookie = await stage.sessionOf('ann');
    const stream = await stage.open('/api/rollouts', { cookie });
    assert.equal(stream.status, 200);
    stage.revoked.add('token-of-ann');
    await stage.clock.advance(61_000);
    await eventually('the stream ends', () => stream.isOver(), soon);
    assert.equal((await stage.call({ path: '/api/labels', headers: { cookie } })).status, 401);

    stage.revoked.clear();
    assert.equal((await stage.call({ path: '/api/labels', headers: { cookie } })).status, 401, 'and stays so');
    const other = await stage.sessionOf('ann');
    stage.clock.jump(SESSION_MS - 1);
    assert.equal((await stage.call({ path: '/api/labels', headers: { cookie: other } })).status, 200);
    stage.clock.jump(1);
    assert.equal((await stage.call({ path: '/api/labels', headers: { cookie: other } })).status, 401);
  });

  it('ends at once with a logout', async (t) => {
    const stage = await openStage(t);
    const cookie = await stage.sessionOf('ann');
    const stream = await stage.open('/api/rollouts', { cookie });
    const headers = { cookie, origin: stage.origin };
    const left = await stage.call({ method: 'DELETE', path: '/api/session', headers });
    assert.match(left.headers['set-cookie']?.[0] ?? '', /=; Max-Age=0;/);
    await eventually('the stream ends', () => stream.isOver(), soon);
    assert.equal((await stage.call({ path: '/api/labels', headers: { cookie } })).status, 401);
  });

  it('is one of this many of its user, and never sends the token back', async (t) => {
    const stage = await openStage(t);
    const [used, first] = [await stage.sessionOf('ann'), await stage.sessionOf('ann')];
    const of = await stage.sessionOf('root');
    const status = async (cookie: string) => (await stage.call({ path: '/api/labels', headers: { cookie } })).status;
    assert.equal(await status(used), 200);
    for (let count = 0; count < 49; count += 1) {
      assert.equal(await status(used), 200);
      await stage.clock.advance(100);
      await stage.sessionOf('ann');
    }
    assert.equal(await status(first), 401);
    assert.equal(await status(used), 200, 'what was not used for longest is ended');
    const { status: ofRoot, headers, body } = await stage.call({ path: '/api/session', headers: { cookie: of } });
    assert.equal(ofRoot, 200);
    assert.deepEqual(JSON.parse(body), { user: 'root', cluster: '', mayLeave: true });
    const login = await stage.logIn('token-of-root');
    assert.doesNotMatch(JSON.stringify([headers, login]), /token-of/);
  });

  it('is no longer than its token, whose rights are asked for again while nobody uses it', async (t) => {
    const stage = await openStage(t);
    const tokenOf = (name: string, seconds: number): string => {
      const claims = JSON.stringify({ exp: Math.floor(stage.clock.now() / 1_000) + seconds });
      return `token-of-${name}.${Buffer.from(claims).toString('base64url')}.signature`;
    };
    const { status, headers } = await stage.logIn(tokenOf('ann', 600));
    assert.equal(status, 200);
    const [set = ''] = headers['set-cookie'] ?? [];
    assert.ok(Number(/Max-Age=(\d+)/.exec(set)?.[1]) <= 600, set);
    const late = await stage.logIn(tokenOf('ann', 0));
    assert.deepEqual([late.status, /has expired/.test(late.body)], [401, true]);
    for (const odd of ['.x.y', '.bnVsbA.y', '.e30.y'])
      assert.equal((await stage.logIn(`token-of-ann${odd}`)).status, 200);
    assert.equal(stage.sessions.size, 4);
    stage.clock.jump(600_000);
    assert.equal(stage.sessions.size, 3);

    stage.revoked.add('token-of-ann.x.y');
    await stage.review();
    assert.equal(stage.sessions.size, 2);
    stage.clock.jump(240_000);
    stage.namespaces.get('ann')?.clear();
    await stage.review();
    assert.equal(stage.sessions.size, 2, 'they were reviewed lately');
    stage.clock.jump(60_000);
    stage.world.apiFails = true;
    await stage.review();
    assert.equal(stage.sessions.size, 2, 'without an answer, they stay');
    stage.world.apiFails = false;
    await stage.review();
    assert.equal(stage.sessions.size, 0);
  });

  it('is for those who may see something', async (t) => {
    const stage = await openStage(t);
    const refused = await stage.logIn('token-of-bob');
    assert.equal(refused.status, 403);
    assert.match(refused.body, /bob may see no namespace that has a rollout: ask for the right to list/);
    assert.equal(refused.headers['set-cookie'], undefined);
    const inOwn = stage.account('depot', 'viewer');
    stage.namespaces.set(inOwn, new Set(['depot']));
    assert.equal((await stage.logIn(`token-of-${inOwn}`)).status, 200, 'its own namespace may have a rollout later');
    assert.equal(stage.sessions.size, 1);
  });
});

describe('a namespace that the caller may not see', () => {
  it('is not reached by tricks with the path, and looks like none', async (t) => {
    const stage = await openStage(t);
    const headers = { cookie: await stage.sessionOf('ann') };
    const missing = await stage.call({ path: '/api/rollouts/shop/ds/none', headers });
    for (const path of [
      '/api/rollouts/secret/ds/web',
      '/api/rollouts/secret/ds/web/nodes/node-1',
      '/api/rollouts/none/ds/web',
      '/api/rollouts/shop/../secret/ds/web',
      '/api/rollouts/shop%2f..%2fsecret/ds/web',
      '/api/rollouts/%73ecret/ds/web',
      '/api/rollouts/SECRET/ds/web',
      '/api/rollouts/secret%00/ds/web',
      '/api/rollouts//ds/web',
      '/api/rollouts/*/ds/web',
      '/api/rollouts/shop/ds/web%2f..%2f..%2f..%2fsecret%2fds%2fweb',
      '/api/rollouts/shop/ads/web',
      '/api/rollouts/shop/constructor/web',
      '/api/rollouts/./secret/ds/web',
      '/api\\rollouts\\secret\\ds\\web',
      '/api/rollouts;secret/ds/web',
    ]) {
      const { status, body } = await stage.call({ path, headers });
      assert.equal(status, 404, path);
      if (path.startsWith('/api/rollouts/') && !path.includes('./')) assert.equal(body, missing.body, path);
    }
    assert.equal(stage.watched.length, 0);
    assert.equal((await stage.open('/api/rollouts/shop/ds/web', headers)).status, 200);
    assert.deepEqual(stage.watched, ['shop/ds/web']);
    const all = { cookie: await stage.sessionOf('root') };
    for (const node of ['..%2f..%2fsecrets', '%00', 'NODE', '*', ''])
      assert.equal(
        (await stage.call({ path: `/api/rollouts/shop/ds/web/nodes/${node}`, headers: all })).status,
        404,
        node,
      );
    assert.deepEqual(stage.watched, ['shop/ds/web']);
  });

  it('is in no stream, appears with the right to see it, and goes with that', async (t) => {
    const stage = await openStage(t);
    const stream = await stage.open('/api/rollouts', { cookie: await stage.sessionOf('ann') });
    await eventually('the rollouts are there', () => stream.said().includes('"rollouts"'), soon);
    stage.world.tell({ ...rowOf('secret'), status: 'Changed' });
    stage.world.tell({ ...rowOf('shop'), status: 'Changed' });
    await eventually('the change is there', () => stream.said().includes('Changed'), soon);
    assert.doesNotMatch(stream.said(), /secret/);
    stage.namespaces.get('ann')?.add('secret');
    await stage.clock.advance(61_000);
    await eventually('the other namespace appears', () => stream.said().includes('"namespace":"secret"'), soon);
    stage.namespaces.get('ann')?.delete('secret');
    await stage.clock.advance(61_000);
    await eventually('it goes', () => stream.said().includes('"gone":["secret/ds/web"]'), soon);
  });

  it('ends the stream of its rollout when the right is taken away', async (t) => {
    const stage = await openStage(t);
    const headers = { cookie: await stage.sessionOf('ann') };
    const [rollout, overview] = [
      await stage.open('/api/rollouts/shop/ds/web', headers),
      await stage.open('/api/rollouts', headers),
    ];
    stage.namespaces.get('ann')?.clear();
    await stage.clock.advance(61_000);
    await eventually('the stream ends', () => rollout.isOver(), soon);
    assert.equal(overview.isOver(), false);
  });
});
