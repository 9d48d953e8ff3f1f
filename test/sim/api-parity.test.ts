import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { advancedDaemonSetCrd } from '../../src/advanced/index.ts';
import { eventually } from '../support/index.ts';
import { definitionsOf } from './definitions.ts';
import { calls } from './parity/calls.ts';
import { customProbes } from './parity/custom.ts';
import { normal } from './parity/normal.ts';
import { embeddedSide, realSide, type Side } from './parity/sides.ts';

const WATCHED = [
  '/api/v1/namespaces/default/pods',
  '/api/v1/namespaces/default/configmaps',
  '/apis/apps/v1/namespaces/default/daemonsets',
  '/apis/apps.kruise.io/v1alpha1/namespaces/default/daemonsets',
  '/apis/apps.kruise.io/v1beta1/namespaces/default/daemonsets',
];

const versionOf = async (side: Side, path: string): Promise<string> => {
  const { out } = await side.call({ method: 'GET', path });
  return (JSON.parse(out) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
};

const CREATED = 201;

const serveCustom = async (side: Side): Promise<void> => {
  const { code, err } = await side.kubectl('apply -f -', JSON.stringify(advancedDaemonSetCrd));
  assert.equal(code, 0, err);
  await eventually(
    'both versions are served',
    async () => {
      const answers = await Promise.all(customProbes.map((probe) => side.call(probe)));
      return answers.every((answer) => answer.code === CREATED);
    },
    { withinMs: 30_000, everyMs: 50 },
  );
};

describe('API calls are answered as by a real API server', { timeout: 600_000 }, () => {
  let sides: readonly [real: Side, embedded: Side];
  /** By path, of each side: the version before the first call. */
  let began: ReadonlyMap<string, readonly string[]>;

  before(async () => {
    sides = await Promise.all([realSide(), embeddedSide()]);
    await Promise.all(sides.map(serveCustom));
    began = new Map(
      await Promise.all(
        WATCHED.map(async (path) => [path, await Promise.all(sides.map((side) => versionOf(side, path)))] as const),
      ),
    );
  });
  after(() => Promise.all(sides.map((side) => side.stop())));

  for (const [index, spec] of calls.entries()) {
    const body = spec.body === undefined ? '' : JSON.stringify(spec.body).slice(0, 120);
    it(`${index}: ${spec.method} ${spec.path} ${body}`, async () => {
      const [real, embedded] = await Promise.all(sides.map((side) => side.call(spec)));
      assert.ok(real && embedded);
      assert.deepEqual(normal(embedded), normal(real));
    });
  }

  for (const path of WATCHED) {
    it(`all of it made the same events on ${path}`, async () => {
      const told = await Promise.all(
        sides.map((side, index) => {
          const from = began.get(path)?.[index] ?? '';
          return side.call({ method: 'GET', path: `${path}?watch=1&timeoutSeconds=2&resourceVersion=${from}` });
        }),
      );
      const [real, embedded] = told;
      assert.ok(real && embedded);
      assert.notEqual(real.out, '');
      assert.deepEqual(normal(embedded), normal(real));
    });
  }

  it('the table of built-in types is what the real one publishes', async () => {
    const { out } = await sides[0].call({ method: 'GET', path: '/openapi/v2' });
    const table = await readFile(new URL('../../src/sim/apiserver/schema/definitions.txt', import.meta.url), 'utf8');
    // The numbers of protobuf are not part of OpenAPI.
    assert.equal(definitionsOf(JSON.parse(out), new Map()), table.replaceAll(/ #=[\d.]+/g, ''));
  });
});
