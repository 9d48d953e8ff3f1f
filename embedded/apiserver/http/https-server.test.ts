import assert from 'node:assert/strict';
import { Agent, request } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { createRandom, systemClock } from '../../../src/runtime/index.ts';
import { createApiServer } from '../server.ts';
import { daemonSet } from '../testing/index.ts';
import { type HttpsServer, startHttpsServer } from './https-server.ts';

interface Call {
  method?: string;
  token?: string;
  type?: string;
  body?: unknown;
}

describe('the embedded API server over HTTP', () => {
  let server: HttpsServer;
  const agent = new Agent({ keepAlive: true });

  before(async () => {
    const apiServer = createApiServer({ clock: systemClock, random: createRandom(1) });
    server = await startHttpsServer({ apiServer, wallClock: systemClock });
  });
  after(async () => {
    agent.destroy();
    await server.stop();
  });

  const call = (
    path: string,
    { method = 'GET', token = server.token, type = 'application/json', body }: Call = {},
  ): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': type, ...(token && { authorization: `Bearer ${token}` }) };
      const options = { method, agent, ca: server.certificateAuthority, headers };
      const sent = request(`${server.server}${path}`, options, (response) => {
        response.resume().once('end', () => resolve(response.statusCode));
      });
      sent.once('error', reject);
      sent.end(body === undefined ? '' : JSON.stringify(body));
    });

  const DS = '/apis/apps/v1/namespaces/default/daemonsets';

  it('requires the token, and serves a certificate that clients can verify', async () => {
    assert.equal(await call('/api/v1/nodes', { token: '' }), 401);
    assert.equal(await call('/api/v1/nodes', { token: 'other' }), 401);
    assert.equal(await call('/api/v1/nodes'), 200);
    assert.ok(server.token.length >= 32);
    assert.ok(JSON.parse(server.kubeconfig()));
  });

  it('rejects bodies that are too large or unreadable', async () => {
    const large = { ...daemonSet('large'), filler: 'x'.repeat(9 * 1024 * 1024) };
    assert.equal(await call(DS, { method: 'POST', body: large }), 413);
    assert.equal(await call(DS, { method: 'POST', type: 'text/csv', body: 'a,b' }), 415);
    assert.equal(await call(DS, { method: 'POST', type: 'application/vnd.kubernetes.protobuf', body: 'x' }), 400);
  });
});
