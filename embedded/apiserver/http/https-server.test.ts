import assert from 'node:assert/strict';
import { Agent, request } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { createRandom, systemClock } from '../../../src/runtime/index.ts';
import { createApiServer } from '../server.ts';
import { daemonSet } from '../testing/index.ts';
import { type HttpsServer, startHttpsServer } from './https-server.ts';

interface Got {
  status: number;
  headers: Readonly<Record<string, unknown>>;
  body: string;
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
    options: { method?: string; token?: string; accept?: string; type?: string; body?: unknown } = {},
  ): Promise<Got> =>
    new Promise((resolve, reject) => {
      const { method = 'GET', token = server.token, accept = 'application/json', type = 'application/json' } = options;
      const text = options.body === undefined ? '' : JSON.stringify(options.body);
      const headers = {
        accept,
        'content-type': type,
        'content-length': Buffer.byteLength(text),
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      };
      const sent = request(
        `${server.server}${path}`,
        { method, agent, ca: server.certificateAuthority, headers },
        (response) => {
          let body = '';
          response.setEncoding('utf8').on('data', (part: string) => (body += part));
          response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
        },
      );
      sent.once('error', reject);
      sent.end(text);
    });

  const DS = '/apis/apps/v1/namespaces/default/daemonsets';

  it('requires the token, and serves a certificate that clients can verify', async () => {
    assert.equal((await call('/api/v1/nodes', { token: '' })).status, 401);
    assert.equal((await call('/api/v1/nodes', { token: 'other' })).status, 401);
    assert.equal((await call('/api/v1/nodes')).status, 200);
    assert.ok(server.token.length >= 32);
    assert.ok(JSON.parse(server.kubeconfig()));
  });

  it('warns about unknown fields, or rejects them if strict', async () => {
    const body = { ...daemonSet('warned'), extra: 1 };
    const strict = await call(`${DS}?fieldValidation=Strict`, { method: 'POST', body });
    assert.deepEqual(
      [strict.status, /strict decoding error: unknown field \\"extra\\"/.test(strict.body)],
      [400, true],
    );
    const warned = await call(DS, { method: 'POST', body });
    assert.deepEqual([warned.status, warned.headers.warning], [201, String.raw`299 - "unknown field \"extra\""`]);
    const ignored = await call(`${DS}?fieldValidation=Ignore`, {
      method: 'POST',
      body: { ...daemonSet('ignored'), extra: 1 },
    });
    assert.deepEqual([ignored.status, ignored.headers.warning], [201, undefined]);
  });

  it('rejects values of the wrong type, naming the field', async () => {
    const { metadata, spec } = daemonSet('typed');
    const { status, body } = await call(DS, {
      method: 'POST',
      body: { metadata, spec: { ...spec, minReadySeconds: 'x' } },
    });
    assert.equal(status, 400);
    assert.match(body, /cannot unmarshal string into Go struct field DaemonSetSpec.spec.minReadySeconds of type int32/);
  });

  it('serves tables and metadata, and 406 for other formats', async () => {
    const table = JSON.parse(
      (await call('/api/v1/namespaces', { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })).body,
    ) as {
      columnDefinitions: { name: string }[];
      rows: { cells: unknown[] }[];
    };
    assert.deepEqual(
      table.columnDefinitions.map(({ name }) => name),
      ['Name', 'Status', 'Age'],
    );
    assert.deepEqual(table.rows[0]?.cells.slice(0, 2), ['default', 'Active']);
    const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
    const metadata = JSON.parse((await call('/api/v1/namespaces/default', { accept })).body) as Record<string, unknown>;
    assert.deepEqual(Object.keys(metadata), ['kind', 'apiVersion', 'metadata']);
    assert.equal((await call('/api/v1/namespaces', { accept: 'text/html' })).status, 406);
  });

  it('rejects bodies that are too large or unreadable', async () => {
    const large = { ...daemonSet('large'), filler: 'x'.repeat(9 * 1024 * 1024) };
    assert.equal((await call(DS, { method: 'POST', body: large })).status, 413);
    assert.equal((await call(DS, { method: 'POST', type: 'text/csv', body: 'a,b' })).status, 415);
    assert.equal(
      (await call(DS, { method: 'POST', type: 'application/vnd.kubernetes.protobuf', body: 'x' })).status,
      400,
    );
  });

  it('publishes everything that it serves, including CRDs', async () => {
    const { body } = await call('/apis/apps/v1');
    assert.ok(body.includes('"daemonsets/status"'));
    const index = JSON.parse((await call('/openapi/v3')).body) as {
      paths: Record<string, { serverRelativeURL: string }>;
    };
    const apps = JSON.parse((await call(index.paths['apis/apps/v1']?.serverRelativeURL ?? '')).body) as {
      components: { schemas: Record<string, { properties?: Record<string, Record<string, unknown>> }> };
    };
    const containers = apps.components.schemas['io.k8s.api.core.v1.PodSpec']?.properties?.containers;
    assert.equal(containers?.['x-kubernetes-patch-merge-key'], 'name');
  });
});
