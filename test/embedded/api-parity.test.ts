import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { advancedDaemonSetCrd } from '../../src/kinds/advanced/index.ts';
import { eventually } from '../support/index.ts';
import { definitionsOf } from './definitions.ts';
import { calls } from './parity/calls.ts';
import { customProbes } from './parity/custom.ts';
import { normalize } from './parity/normalize.ts';
import {
  type ApiCall,
  type Outcome,
  type ParityServer,
  startEmbeddedServer,
  startRealServer,
} from './parity/servers.ts';

const WATCHED = [
  '/api/v1/namespaces/default/pods',
  '/api/v1/namespaces/default/configmaps',
  '/apis/apps/v1/namespaces/default/daemonsets',
  '/apis/apps.kruise.io/v1alpha1/namespaces/default/daemonsets',
  '/apis/apps.kruise.io/v1beta1/namespaces/default/daemonsets',
];

const versionOf = async (server: ParityServer, path: string): Promise<string> => {
  const { out } = await server.call({ method: 'GET', path });
  return (JSON.parse(out) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
};

const answerTo = async (server: ParityServer, spec: ApiCall): Promise<Outcome> => {
  const { until } = spec;
  if (until === undefined) return server.call(spec);
  return eventually(`${server.name} answers with ${until}`, async () => {
    const answer = await server.call(spec);
    return answer.out.includes(until) && answer;
  });
};

const CREATED = 201;

const serveCustom = async (server: ParityServer): Promise<void> => {
  const { code, err } = await server.kubectl('apply -f -', JSON.stringify(advancedDaemonSetCrd));
  assert.equal(code, 0, err);
  await eventually(
    'both versions are served',
    async () => {
      const answers = await Promise.all(customProbes.map((probe) => server.call(probe)));
      return answers.every((answer) => answer.code === CREATED);
    },
    { everyMs: 50 },
  );
};

describe('API responses match a real API server', { timeout: 600_000 }, () => {
  let servers: readonly [real: ParityServer, embedded: ParityServer];
  /** The resourceVersion before the first call, by path and server. */
  let began: ReadonlyMap<string, readonly string[]>;

  before(async () => {
    servers = await Promise.all([startRealServer(), startEmbeddedServer()]);
    await Promise.all(servers.map(serveCustom));
    began = new Map(
      await Promise.all(
        WATCHED.map(
          async (path) => [path, await Promise.all(servers.map((server) => versionOf(server, path)))] as const,
        ),
      ),
    );
  });
  after(() => Promise.all(servers.map((server) => server.stop())));

  for (const [index, spec] of calls.entries()) {
    const body = spec.body === undefined ? '' : JSON.stringify(spec.body).slice(0, 120);
    it(`${index}: ${spec.method} ${spec.path} ${body}`, async () => {
      const [real, embedded] = await Promise.all(servers.map((server) => answerTo(server, spec)));
      assert.ok(real && embedded);
      assert.deepEqual(normalize(embedded), normalize(real));
    });
  }

  for (const path of WATCHED) {
    it(`the calls caused the same watch events on ${path}`, async () => {
      const received = await Promise.all(
        servers.map((server, index) => {
          const from = began.get(path)?.[index] ?? '';
          return server.call({ method: 'GET', path: `${path}?watch=1&timeoutSeconds=2&resourceVersion=${from}` });
        }),
      );
      const [real, embedded] = received;
      assert.ok(real && embedded);
      assert.notEqual(real.out, '');
      assert.deepEqual(normalize(embedded), normalize(real));
    });
  }

  it("definitions.txt matches the real server's OpenAPI", async () => {
    const { out } = await servers[0].call({ method: 'GET', path: '/openapi/v2' });
    const table = await readFile(new URL('../../embedded/apiserver/schema/definitions.txt', import.meta.url), 'utf8');
    // OpenAPI doesn't have protobuf numbers.
    assert.equal(definitionsOf(JSON.parse(out), new Map()), table.replaceAll(/ #=[\d.]+/g, ''));
  });
});
