import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { createVirtualClock } from '../runtime/index.ts';
import type { CodeEnd } from './key-gate.ts';
import { openAddress, serveFleet } from './testing/index.ts';

const serve = async (t: TestContext) => {
  const clock = createVirtualClock(0);
  const server = await serveFleet({ rows: [], rollout: undefined }, 0, clock);
  t.after(() => server.close());
  const { origin } = server;
  return { ...server, clock, open: (entry: string) => openAddress(`${origin}${entry}`) };
};

test('a code opens one page, however many ask with it at the same time', async (t) => {
  const { open, entry, origin } = await serve(t);
  const address = entry();
  const opened = await Promise.allSettled([open(address), open(address), open(address)]);
  assert.equal(opened.filter(({ status }) => status === 'fulfilled').length, 1);
  await assert.rejects(open(address), /403 .*used before, or is too old/);
  const headers = await open(entry());
  assert.equal((await fetch(`${origin}/api/labels`, { headers })).status, 200);
});

test('a code dies with its time, and with the dashboard', async (t) => {
  const { open, gate, clock } = await serve(t);
  const ends: CodeEnd[] = [];
  const ended = (how: CodeEnd): void => void ends.push(how);
  const codes = [
    gate.newCode({ lifeMs: 1_000, ended }),
    gate.newCode({ lifeMs: 1_001, ended }),
    gate.newCode({ ended }),
  ];
  clock.run(1_000);
  assert.deepEqual(ends, ['expired']);
  const [early, late, last] = codes.map((code) => `/#code=${code}`);
  await assert.rejects(open(early ?? ''), /^Error: 403/);
  await open(late ?? '');
  clock.run(10 ** 9);
  gate.close();
  assert.deepEqual(ends, ['expired', 'used', 'closed']);
  await assert.rejects(open(last ?? ''), /^Error: 403/);
  assert.equal(clock.pending, 0);
});

test('nothing but the key admits: no cookie, no code, no key in the address', async (t) => {
  const { open, entry, origin } = await serve(t);
  const { authorization } = await open(entry());
  const [, key = ''] = authorization.split(' ');
  const [, code = ''] = entry().split('=');
  const get = (path: string, headers: Record<string, string>) => fetch(`${origin}${path}`, { headers });
  for (const [path, headers] of [
    ['/api/labels', {}],
    ['/api/labels', { cookie: `edgeset-dashboard=${key}; key=${key}` }],
    ['/api/labels', { authorization: `Bearer ${code}` }],
    ['/api/labels', { authorization: `Bearer ${key}x` }],
    ['/api/labels', { authorization: `Basic ${key}` }],
    [`/api/labels?key=${key}&code=${code}`, {}],
  ] as const)
    assert.equal((await get(path, headers)).status, 401, `${path} ${JSON.stringify(headers)}`);
  const page = await get(`/?key=${key}`, {});
  assert.deepEqual([page.status, page.headers.getSetCookie()], [200, []]);
  assert.deepEqual(await (await get('/api/session', {})).json(), {
    user: '',
    cluster: '',
    mayLeave: false,
    mustOpen: true,
  });
  assert.deepEqual(await (await get('/api/session', { authorization })).json(), {
    user: '',
    cluster: '',
    mayLeave: false,
  });
});

test('a page of another site can lead there, and can neither ask nor exchange', async (t) => {
  const { entry, origin } = await serve(t);
  const [, code] = entry().split('=');
  const foreign = { 'sec-fetch-site': 'cross-site' };
  const link = { ...foreign, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  // Not fetch(), which sets its own Sec-Fetch-Mode.
  const statusOf = async (
    path: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<number | undefined> => {
    const sent = request(`${origin}${path}`, { headers, method: body === undefined ? 'GET' : 'POST' });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  };
  assert.equal(await statusOf('/', link), 200);
  assert.equal(await statusOf('/', { ...link, 'sec-fetch-dest': 'iframe' }), 403);
  assert.equal(await statusOf('/', { ...foreign, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' }), 403);
  assert.equal(await statusOf('/api/session', link), 403);
  const json = { 'content-type': 'application/json' };
  const body = JSON.stringify({ code });
  assert.equal(await statusOf('/api/session', { ...json, ...link }, body), 403);
  assert.equal(await statusOf('/api/session', { ...json, origin: 'http://127.0.0.1:1' }, body), 403);
  assert.equal(await statusOf('/api/session', { 'content-type': 'text/plain' }, body), 415);
  assert.equal(await statusOf('/api/session', json, '{"code":1}'), 400);
  assert.equal(await statusOf('/api/session', json, body), 200, 'none of them used the code up');
});
