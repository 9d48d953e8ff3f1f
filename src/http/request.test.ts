import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createTestServers,
  eventually,
  type Response,
  sendJson,
  startJson,
  type TestServer,
  writeText,
} from '../../test/support/index.ts';
import { systemClock } from '../runtime/index.ts';
import { createOutgoing, type OutgoingRequest, type OutgoingResult } from './request.ts';

const servers = createTestServers();
const { authority } = servers;

const serve = (answer: (response: Response) => void, tls = false): Promise<TestServer> =>
  servers.serve((_, response) => answer(response), tls);

const get = (url: string, more: Partial<OutgoingRequest> = {}, timeoutMs = 20_000): Promise<OutgoingResult> =>
  createOutgoing({ clock: systemClock, environment: {}, timeoutMs })(
    { method: 'GET', url, headers: {}, maxBytes: () => 100, ...more },
    new AbortController().signal,
  );

const bodyOf = (result: OutgoingResult): unknown[] =>
  result.kind === 'response' ? [result.status, result.body, result.incomplete] : [result.why];

describe('an outgoing request', () => {
  it('returns the status and the whole body', async () => {
    const server = await serve((response) => sendJson(response, { a: 'ä' }, 418));
    assert.deepEqual(bodyOf(await get(server.url)), [418, '{"a":"ä"}', undefined]);
    await eventually('the connection is closed', () => server.sockets.size === 0);
  });

  it('reads a body of exactly as much as it may', async () => {
    const server = await serve((response) => sendJson(response, 'x'.repeat(98)));
    assert.deepEqual(bodyOf(await get(server.url)), [200, `"${'x'.repeat(98)}"`, undefined]);
  });

  it('stops reading a body that is longer', async () => {
    const server = await serve((response) => {
      startJson(response, 200);
      const talk = setInterval(() => writeText(response, 'x'.repeat(65_536)), 1);
      response.on('close', () => clearInterval(talk));
    });
    assert.deepEqual(bodyOf(await get(server.url)), [200, 'x'.repeat(100), 'the response is too long']);
    await eventually('the connection is closed', () => server.sockets.size === 0);
  });

  it('says that a body did not end in time', async () => {
    const server = await serve((response) => {
      startJson(response, 200);
      writeText(response, '{');
    });
    assert.deepEqual(bodyOf(await get(server.url, {}, 500)), [200, '{', 'no complete response within 500 ms']);
  });

  it('says that the connection was closed within a body', async () => {
    const server = await serve((response) => {
      startJson(response, 200);
      writeText(response, '{');
      setImmediate(() => response.destroy());
    });
    const [status, , incomplete] = bodyOf(await get(server.url));
    assert.deepEqual([status, incomplete], [200, 'the connection was closed within the response']);
  });

  it('follows no redirect', async () => {
    const other = await serve((response) => sendJson(response, {}));
    const server = await serve((response) => {
      response.setHeader('location', other.url);
      sendJson(response, {}, 307);
    });
    assert.equal(bodyOf(await get(server.url))[0], 307);
    assert.deepEqual(other.requests, []);
  });

  it('trusts the given authority, the given name, or everybody', async () => {
    const server = await serve((response) => sendJson(response, {}), true);
    const unknown = await get(server.url);
    assert.deepEqual([unknown.kind, 'untrusted' in unknown && unknown.untrusted], ['failed', true]);
    assert.equal((await get(server.url, { ca: authority.cert })).kind, 'response');
    assert.equal((await get(server.url, { ca: authority.cert, serverName: 'elsewhere.example' })).kind, 'failed');
    assert.equal((await get(server.url, { insecureSkipVerify: true })).kind, 'response');
  });

  it('fails with an authority that can not be read', async () => {
    const server = await serve((response) => sendJson(response, {}), true);
    const ca = '-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n';
    assert.equal((await get(server.url, { ca })).kind, 'failed');
  });
});
