import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createEmbeddedCluster, createInProcessClient } from '../../embedded/index.ts';
import { createTestClock } from '../../test/support/index.ts';
import { customResourceDefinitions, daemonSets, namespaces } from '../kube/index.ts';
import { type Env, silentLogger } from '../runtime/index.ts';
import { daemonRolloutCrd } from '../words/index.ts';
import { createClusters } from './clusters.ts';
import { type RolloutRow, rolloutKey, type SilentCluster } from './messages.ts';
import { openAddress, serveFleet } from './testing/index.ts';

const daemonSet = {
  metadata: { name: 'web', namespace: 'shop', annotations: { 'apps.openyurt.io/update-strategy': 'auto' } },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    updateStrategy: { type: 'OnDelete' },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'web:v1' }] } },
  },
};

/** Contexts of one cluster with one DaemonSet, which no manager serves. `first`, and what is added to `up`, are those that answer. */
const prepare = async (t: TestContext, contexts: readonly string[], ...first: readonly string[]) => {
  const clock = createTestClock();
  const env: Env = { clock, random: () => 0.5, log: silentLogger };
  const cluster = createEmbeddedCluster({ env });
  const client = createInProcessClient(cluster.apiServer);
  await client.create(customResourceDefinitions, daemonRolloutCrd);
  await client.create(namespaces, { metadata: { name: 'shop' } });
  await client.create(daemonSets, daemonSet);
  const up = new Set(first);
  const ended: string[] = [];
  const fleet = createClusters({
    env,
    contexts,
    namespace: undefined,
    edgeset: (words, _namespace, context) => `edgeset ${words} in ${context}`,
    run: async () => assert.fail('nobody runs a command'),
    async connect(context, work) {
      if (!up.has(context)) throw new Error(`no route to ${context}`);
      await work({ client, env, cluster: context }).finally(() => ended.push(context));
    },
  });
  t.after(async () => {
    await fleet.close();
    cluster.close();
  });
  /** What a page makes of the messages. */
  const shown = { rows: new Map<string, RolloutRow>(), silent: [] as readonly SilentCluster[], messages: 0 };
  const listen = async (): Promise<void> => {
    (await fleet.overview()).subscribe((message) => {
      shown.messages += 1;
      if (message.type === 'rollouts') shown.rows.clear();
      else for (const key of message.gone) shown.rows.delete(key);
      for (const row of message.rows) shown.rows.set(rolloutKey(row), row);
      shown.silent = message.silent ?? shown.silent;
    });
  };
  return { clock, client, up, ended, fleet, shown, listen };
};

test('a cluster that does not answer hides no other, and is tried until it does', async (t) => {
  const { clock, client, up, ended, fleet, shown, listen } = await prepare(t, ['north', 'south'], 'north');
  await listen();
  const unheard = (cluster: string): SilentCluster => ({ cluster, why: '' });
  assert.deepEqual([shown.rows.size, shown.silent], [0, [unheard('north'), unheard('south')]]);
  await clock.advance(1_000);
  assert.deepEqual([...shown.rows.keys()], ['shop/ds/web/north']);
  assert.deepEqual(shown.silent, [{ cluster: 'south', why: 'no route to south' }]);
  assert.equal(shown.rows.get('shop/ds/web/north')?.cluster, 'north');

  const ref = { namespace: 'shop', kind: 'ds', name: 'web' };
  const cause = /^Error: nothing is known of the cluster south yet: no route to south$/;
  assert.throws(() => fleet.rollout({ ...ref, cluster: 'south' }), cause);
  await assert.rejects(fleet.labels(undefined, 'south'), cause);
  assert.throws(() => fleet.rollout({ ...ref, cluster: 'east' }), /the cluster east/);
  fleet.rollout({ ...ref, cluster: 'north' })?.done();

  up.add('south');
  await clock.advance(6_000);
  assert.deepEqual([...shown.rows.keys()].toSorted(), ['shop/ds/web/north', 'shop/ds/web/south']);
  assert.deepEqual(shown.silent, []);

  const { messages } = shown;
  await clock.advance(10_000);
  assert.equal(shown.messages, messages, 'nothing has changed');
  await client.delete(daemonSets, { namespace: 'shop', name: 'web' });
  await clock.advance(2_000);
  assert.deepEqual([...shown.rows.keys()], []);

  await fleet.close();
  assert.deepEqual(ended.toSorted(), ['north', 'south'], 'their connections are closed');
});

test('a cluster without edgeset says how to install it there', async (t) => {
  const { clock, client, up, shown, listen } = await prepare(t, ['south']);
  await listen();
  await client.delete(customResourceDefinitions, { name: daemonRolloutCrd.metadata.name });
  up.add('south');
  await clock.advance(6_000);
  const [{ why } = { why: '' }] = shown.silent;
  assert.match(
    why,
    /^the cluster has no CRD for DaemonRollouts: install it with "edgeset crds \| kubectl apply -f - in south"/,
  );
  await client.create(customResourceDefinitions, daemonRolloutCrd);
  await clock.advance(6_000);
  assert.deepEqual([shown.rows.size, shown.silent], [1, []]);
});

test('who comes later hears all that is known', async (t) => {
  const { clock, shown, listen } = await prepare(t, ['north', 'south', 'east'], 'north', 'south');
  await clock.advance(1_000);
  await listen();
  assert.deepEqual([shown.messages, shown.rows.size], [1, 2]);
  assert.deepEqual(shown.silent, [{ cluster: 'east', why: 'no route to east' }]);
});

test('a dashboard of one cluster refuses the addresses of another dashboard that has several', async (t) => {
  const server = await serveFleet({ rows: [], rollout: undefined });
  t.after(() => server.close());
  const headers = await openAddress(`${server.origin}${server.entry()}`);
  const get = async (path: string): Promise<number> => (await fetch(`${server.origin}${path}`, { headers })).status;
  assert.deepEqual(
    [await get('/api/labels'), await get('/api/rollouts/shop/ds/web/events')],
    [200, 200],
    'it has both without a cluster',
  );
  for (const query of ['?cluster=', '?cluster=north']) {
    assert.equal(await get(`/api/labels${query}`), 404, query);
    assert.equal(await get(`/api/rollouts/shop/ds/web${query}`), 404, query);
    assert.equal(await get(`/api/rollouts/shop/ds/web/events${query}`), 404, query);
  }
  const body = JSON.stringify({ command: 'pause', cluster: 'north', namespace: 'shop', kind: 'ds', name: 'web' });
  const json = { ...headers, 'content-type': 'application/json' };
  assert.equal((await fetch(`${server.origin}/api/commands`, { method: 'POST', headers: json, body })).status, 404);
});
