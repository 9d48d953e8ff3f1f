import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createTestAuthority,
  createTestServers,
  eventually,
  type Response,
  sendJson,
  startJson,
  type TestServer,
  writeText,
} from '../../test/support/index.ts';
import { systemClock } from '../runtime/index.ts';
import { createPost, type PostResult } from './post.ts';

const servers = createTestServers();
const { authority } = servers;
const within = (timeoutMs: number, environment: Record<string, string> = {}) =>
  createPost({ clock: systemClock, environment, timeoutMs });
const post = within(10_000);
const IMPATIENT_MS = 1_000;

const receiver = (answer: (response: Response) => void, tls = true): Promise<TestServer> =>
  servers.serve((_, response) => answer(response), tls);

const send = (
  url: string,
  { ca = authority.cert, signal = new AbortController().signal, by = post } = {},
): Promise<PostResult> => by({ url, headers: { 'content-type': 'text/plain' }, body: 'hello', ca }, signal);

const whyOf = (result: PostResult): string => ('why' in result ? result.why : '');

describe('a receiver', () => {
  it('that accepts has the request', async () => {
    const server = await receiver((response) => sendJson(response, {}, 202));
    assert.deepEqual(await send(`${server.url}/in`), { kind: 'delivered' });
    assert.deepEqual(server.requests, ['POST /in']);
    await eventually('the connection is closed', () => server.sockets.size === 0);
  });

  it('that accepts and never stops talking is left alone', async () => {
    const server = await receiver((response) => {
      startJson(response, 200);
      const talk = setInterval(() => writeText(response, 'x'.repeat(65_536)), 1);
      response.on('close', () => clearInterval(talk));
    });
    assert.deepEqual(await send(server.url), { kind: 'delivered' });
    await eventually('the connection is closed', () => server.sockets.size === 0);
  });

  it('that fails and never stops talking is quoted briefly', async () => {
    const server = await receiver((response) => {
      startJson(response, 503);
      const talk = setInterval(() => writeText(response, `\u001b[2J${'x'.repeat(65_536)}`), 1);
      response.on('close', () => clearInterval(talk));
    });
    const result = await send(server.url);
    assert.equal(result.kind, 'failed');
    assert.match(whyOf(result), /^HTTP 503: \[2Jx{100,200}$/);
    await eventually('the connection is closed', () => server.sockets.size === 0);
  });

  it('that never answers costs the time limit', async () => {
    const server = await receiver(() => undefined);
    const before = systemClock.now();
    assert.match(whyOf(await send(server.url, { by: within(IMPATIENT_MS) })), /no response within 1000 ms/);
    assert.ok(systemClock.now() - before < 20 * IMPATIENT_MS);
    await eventually('the connection is closed', () => server.sockets.size === 0);
  });

  it('that leads elsewhere is not followed, which is said', async () => {
    const server = await receiver((response) => sendJson(response, {}, 307, { location: 'http://169.254.169.254/' }));
    const why = 'HTTP 307: redirects are not followed; configure the URL that it leads to';
    assert.deepEqual(await send(server.url), { kind: 'failed', why });
  });

  it('that is down is not reached', async () => {
    const server = await receiver(() => undefined);
    await server.close();
    assert.match(whyOf(await send(`${server.url}/secret-path`)), /ECONNREFUSED/);
    assert.doesNotMatch(whyOf(await send(`${server.url}/secret-path`)), /secret-path/);
  });

  it('with the certificate of another authority gets nothing', async () => {
    const server = await receiver((response) => sendJson(response, {}));
    assert.match(whyOf(await send(server.url, { ca: createTestAuthority('another').cert })), /certificate.*set ca/);
    assert.deepEqual(server.requests, []);
  });

  for (const [status, kind] of [
    [400, 'refused'],
    [410, 'refused'],
    [401, 'failed'],
    [404, 'failed'],
    [429, 'failed'],
    [500, 'failed'],
  ] as const)
    it(`that answers ${status}: ${kind}`, async () => {
      const server = await receiver((response) => sendJson(response, {}, status));
      assert.equal((await send(server.url)).kind, kind);
    });

  it('may say when to try again', async () => {
    const server = await receiver((response) => sendJson(response, {}, 429, { 'retry-after': '7' }));
    assert.deepEqual(await send(server.url), { kind: 'failed', why: 'HTTP 429: {}', retryAfterMs: 7_000 });
  });

  it('gets nothing once the signal has aborted', async () => {
    const server = await receiver(() => undefined);
    const stop = new AbortController();
    const sending = send(server.url, { signal: stop.signal });
    await eventually('it has the request', () => server.requests.length === 1);
    stop.abort();
    assert.equal((await sending).kind, 'failed');
    const stopped = await send(server.url, { signal: stop.signal });
    assert.equal(stopped.kind, 'failed');
    assert.equal(server.requests.length, 1);
  });

  it('is reached through the proxy of the environment', async () => {
    const seen: string[] = [];
    const proxy = await servers.serve((request, response) => {
      seen.push(`${request.url}`);
      sendJson(response, {});
    });
    const through = within(10_000, { HTTP_PROXY: proxy.url });
    const request = { url: 'http://relay.example.com/in', headers: {}, body: 'x', ca: undefined };
    assert.deepEqual(await through(request, new AbortController().signal), { kind: 'delivered' });
    assert.deepEqual(seen, ['http://relay.example.com/in']);
  });
});
