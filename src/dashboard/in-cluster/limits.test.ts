import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { createTestAuthority, eventually } from '../../../test/support/index.ts';
import { HOST, type Opened, openStage } from './testing/stage.ts';

const soon = { everyMs: 10 };

/** A certificate in files, which can be renewed. */
const newCertificate = (t: TestContext, authority: ReturnType<typeof createTestAuthority>) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-dashboard-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [certFile, keyFile] = [path.join(folder, 'tls.crt'), path.join(folder, 'tls.key')];
  const renew = (name: string): void => {
    const { cert, key } = authority.issue(name);
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
  };
  renew('first');
  return { files: { certFile, keyFile, clientCaFile: undefined }, renew };
};

describe('a flood', () => {
  it('of logins reaches the API server in drops, and does not touch who is logged in', async (t) => {
    const stage = await openStage(t);
    const cookie = await stage.sessionOf('ann');
    const replies = await Promise.all(Array.from({ length: 60 }, (_, at) => stage.logIn(`guess-${at}`)));
    const refused = replies.filter(({ status }) => status === 429);
    assert.ok(refused.length >= 40, `${refused.length} were refused`);
    assert.ok(Number(refused[0]?.headers['retry-after']) > 0);
    assert.ok(stage.reviewed.length <= 21, `${stage.reviewed.length} tokens were reviewed`);
    const guess = { authorization: 'Bearer guess' };
    assert.equal((await stage.call({ path: '/api/labels', headers: guess })).status, 429, 'tokens in headers, too');
    assert.equal((await stage.call({ path: '/api/labels', headers: { cookie } })).status, 200);
  });

  it('of requests of one caller leaves room for others', async (t) => {
    const stage = await openStage(t);
    const [ann, root] = [await stage.sessionOf('ann'), await stage.sessionOf('root')];
    const ask = (cookie: string, at = 0) =>
      stage.call({ path: '/api/labels', headers: { cookie }, from: `127.0.0.${(at % 8) + 2}` });
    const replies = await Promise.all(Array.from({ length: 130 }, (_, at) => ask(ann, at)));
    assert.ok(replies.some(({ status }) => status === 429));
    assert.equal((await ask(root)).status, 200);
    const reviewed = stage.reviewed.filter((token) => token === 'token-of-ann');
    assert.equal(reviewed.length, 1, 'the API server was asked about the token once');
  });

  it('of streams of one namespace leaves room for others, too, when there are no more', async (t) => {
    const stage = await openStage(t);
    const streams: Opened[] = [];
    for (let at = 0; at < 500; at += 1) {
      const name = stage.account(`tenant-${at % 8}`, 'bot');
      const headers = { authorization: `Bearer token-of-${name}` };
      const from = `127.0.1.${at % 25}`;
      streams.push(await stage.open('/api/rollouts', headers, from));
    }
    assert.equal(stage.server.viewers, 500);
    const mine = { authorization: `Bearer token-of-${stage.account('tenant-0', 'another')}` };
    assert.equal((await stage.open('/api/rollouts', mine, '127.0.2.1')).status, 429, 'who has most gets no more');
    assert.equal((await stage.open('/api/rollouts', { cookie: await stage.sessionOf('ann') })).status, 200);
    await eventually('one of those has ended', () => streams.filter((stream) => stream.isOver()).length === 1, soon);
    assert.equal(stage.server.viewers, 500);
  });

  it('of streams of one caller leaves room for others', async (t) => {
    const stage = await openStage(t);
    const [ann, root] = [await stage.sessionOf('ann'), await stage.sessionOf('root')];
    for (let count = 0; count < 64; count += 1)
      assert.equal((await stage.open('/api/rollouts', { cookie: ann })).status, 200);
    assert.equal((await stage.open('/api/rollouts', { cookie: ann })).status, 429);
    assert.equal((await stage.open('/api/rollouts', { cookie: root })).status, 200);
  });
});

describe('requests that are too large or too slow', () => {
  it('are refused before they are read', async (t) => {
    const stage = await openStage(t);
    const cookie = await stage.sessionOf('ann');
    const { origin, asJson } = stage;
    const headers = { cookie, origin, ...asJson };
    const large = JSON.stringify({ token: 'x'.repeat(40_000) });
    assert.equal((await stage.call({ method: 'POST', path: '/api/session', headers, body: large })).status, 413);
    assert.equal((await stage.call({ method: 'POST', path: '/api/commands', headers, body: large })).status, 413);
    assert.equal((await stage.call({ path: '/', headers: { 'x-large': 'x'.repeat(20_000) } })).status, 431);
    for (const token of ['', 'x'.repeat(25_000), 'a b', 'token-of-ann\r\nX-Injected: 1', 'tökén', '\0'])
      assert.equal((await stage.logIn(token)).status, 401, JSON.stringify(token.slice(0, 20)));
    for (const body of ['null', '[]', '{"token":{}}', '{"token":null}', '{', '"token"'])
      assert.equal((await stage.call({ method: 'POST', path: '/api/session', headers, body })).status, 400, body);
    assert.deepEqual(stage.reviewed, ['token-of-ann']);
  });

  it('end when their head or their body takes too long', async (t) => {
    const stage = await openStage(t, { headersMs: 300, requestMs: 600 });
    const head = `POST /api/session HTTP/1.1\r\nHost: ${stage.address}\r\n`;
    const body = `${head}Origin: ${stage.origin}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`;
    const answers = await Promise.all(
      [head, body].map((start) => {
        const socket = connect(Number(stage.address.split(':')[1]), '127.0.0.1');
        socket.write(start);
        return text(socket);
      }),
    );
    for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 408 |^$/);
  });
});

describe('without an answer of the API server', () => {
  it('nobody logs in, nothing new is shown, and sessions survive', async (t) => {
    const stage = await openStage(t);
    const cookie = await stage.sessionOf('ann');
    const stream = await stage.open('/api/rollouts', { cookie });
    stage.world.apiFails = true;
    await stage.clock.advance(61_000);
    await eventually('the stream ends', () => stream.isOver(), soon);
    assert.equal((await stage.logIn('token-of-root')).status, 503);
    const { status, body } = await stage.call({ path: '/api/rollouts/shop/ds/web', headers: { cookie } });
    assert.equal(status, 503);
    assert.doesNotMatch(body, /ECONNREFUSED/, 'strangers learn nothing about the cluster');
    stage.world.apiFails = false;
    assert.equal((await stage.call({ path: '/api/labels', headers: { cookie } })).status, 200);
  });
});

describe('a certificate', () => {
  it('that is renewed is used without a restart', async (t) => {
    const authority = createTestAuthority();
    const { files, renew } = newCertificate(t, authority);
    const stage = await openStage(t, { tls: files });
    const nameOf = async (): Promise<unknown> => {
      const socket = connectTls({ port: Number(stage.address.split(':')[1]), host: '127.0.0.1', ca: authority.cert });
      await once(socket, 'secureConnect');
      const { subject } = socket.getPeerCertificate();
      socket.destroy();
      return subject.CN;
    };
    assert.equal(await nameOf(), 'first');
    renew('second');
    stage.clock.jump(2_000);
    assert.equal(await nameOf(), 'second');
  });
});

describe('responses', () => {
  it('tell browsers to use HTTPS alone, where the name is the own one of the dashboard', async (t) => {
    const stage = await openStage(t, { isProxy: (address) => address === '127.0.0.9' });
    const told = async (host: string, headers: Record<string, string>, from = '127.0.0.9') =>
      (await stage.call({ path: '/', from, headers: { host, ...headers } })).headers['strict-transport-security'];
    const https = { 'x-forwarded-proto': 'https' };
    assert.equal(await told(HOST, https), 'max-age=31536000');
    assert.equal(await told(HOST, {}), undefined, 'the proxy may have had it without TLS');
    assert.equal(await told(HOST, https, '127.0.0.2'), undefined, 'nobody else says how browsers came');
    assert.equal(await told(stage.address, https), undefined, 'others of this machine have this name, too');

    const secure = await openStage(t, { tls: newCertificate(t, createTestAuthority()).files });
    const over = async (host: string): Promise<string | undefined> => {
      const sent = request({ port: secure.server.port, rejectUnauthorized: false, headers: { host } });
      sent.end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.resume();
      return response.headers['strict-transport-security'];
    };
    assert.equal(await over(HOST), 'max-age=31536000');
    assert.equal(await over(`localhost:${secure.server.port}`), undefined);
    assert.equal(await over(`${HOST}:${secure.server.port}`), undefined, 'other ports may serve without TLS');
  });

  it('can be read, framed and run by nobody else', async (t) => {
    const stage = await openStage(t);
    const { headers } = await stage.call({ path: '/' });
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /default-src 'none'; script-src 'self'; /);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    assert.match(policy, /frame-ancestors 'none'/);
    const script = '<script>alert(1)</script>';
    stage.namespaces.set(script, new Set(['shop']));
    const cookie = await stage.sessionOf(script);
    const said = await stage.call({ path: '/api/session', headers: { cookie } });
    assert.equal(said.headers['content-type'], 'application/json');
    assert.equal(said.headers['x-content-type-options'], 'nosniff');
    assert.equal(said.headers['cache-control'], 'no-store');
    assert.equal(said.headers['access-control-allow-origin'], undefined);
    assert.deepEqual(JSON.parse(said.body), { user: script, cluster: '', mayLeave: true });
    const preflight = await stage.call({
      method: 'OPTIONS',
      path: '/api/commands',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    assert.equal(preflight.status, 403);
  });
});
