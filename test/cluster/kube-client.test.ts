import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import {
  createClient,
  createEventRecorder,
  createReflector,
  events,
  isKubeError,
  type KubeClient,
  type KubeErrorCode,
  loadClusterConfig,
} from '../../src/kube/index.ts';
import { configMaps } from '../../src/kube/testing/index.ts';
import { silentLogger, systemClock } from '../../src/runtime/index.ts';
import { eventually } from '../support/index.ts';
import { type RealCluster, startCluster } from './index.ts';

const env = { clock: systemClock, random: Math.random, log: silentLogger };

let cluster: RealCluster;
let client: KubeClient;
before(async () => {
  cluster = await startCluster();
  const config = await loadClusterConfig({ kubeconfig: cluster.kubeconfig, env: {} });
  client = createClient(config, { env, userAgent: 'edgeset-test/0', qps: 0 });
});
after(async () => {
  await client.close();
  await cluster.stop();
});

const refusal = async (work: Promise<unknown>, code: KubeErrorCode): Promise<void> => {
  await assert.rejects(work, (error) => {
    assert.ok(isKubeError(error, code), String(error));
    assert.equal(error.happened, 'no');
    return true;
  });
};

const put = (namespace: string, name: string, text: string) =>
  client.patch(
    configMaps,
    { namespace, name },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { text } },
    { type: 'apply', fieldManager: 'edgeset-test', force: true },
  );

for (const watchList of [true, false]) {
  test(`a ${watchList ? 'streamed' : 'paged'} reflector holds the truth through changes and a restart of the API server`, async () => {
    const namespace = await cluster.createNamespace('reflect');
    await Promise.all(Array.from({ length: 25 }, (_, at) => put(namespace, `m${at}`, '1')));
    const mirror = new Map<string, string>();
    let snapshots = 0;
    const wire = await cluster.link();
    const config = await loadClusterConfig({ kubeconfig: cluster.kubeconfig, env: {} });
    const through = { ...config, server: `https://127.0.0.1:${wire.port}` };
    const watcher = createClient(through, { env, userAgent: 'edgeset-test/0', qps: 0 });
    const reflector = createReflector({
      client: watcher,
      resource: configMaps,
      env,
      namespace,
      watchList,
      pageSize: 10,
      project: (map) => map.data?.text,
      handlers: [
        {
          upsert: (key, value) => void mirror.set(key, value),
          remove: (key) => void mirror.delete(key),
          synced: () => {
            snapshots += 1;
          },
        },
      ],
    });
    const stop = new AbortController();
    const running = reflector.run(stop.signal);
    try {
      await reflector.whenSynced(AbortSignal.timeout(60_000));
      assert.equal(reflector.store.size, 25);
      const holds = async (what: string): Promise<void> => {
        const { items } = await client.list(configMaps, { namespace });
        const truth = Object.fromEntries(
          items.flatMap(({ metadata, data }) => (data?.text ? [[`${namespace}/${metadata?.name}`, data.text]] : [])),
        );
        await eventually(
          what,
          async () => {
            return isDeepStrictEqual(Object.fromEntries(mirror), truth) && reflector.store.size === mirror.size;
          },
          { everyMs: 20 },
        );
      };
      await put(namespace, 'm1', '2');
      await client.delete(configMaps, { namespace, name: 'm2' });
      await holds('changes have arrived');
      assert.equal(mirror.size, 24);
      const { resourceVersion } = await client.list(configMaps, { namespace });
      await put(namespace, 'm5', '2');

      await holds('more changes have arrived');
      wire.cut();
      await cluster.restartApiServer();
      await eventually('the API server is ready again', () => client.raw('/readyz').catch(() => undefined), {
        everyMs: 100,
      });
      await client.delete(configMaps, { namespace, name: 'm3' });
      await put(namespace, 'm4', '3');
      await put(namespace, 'new', '1');
      // Its history begins after these changes: the reflector can only list, and must tell the delete that it missed.
      await cluster.restartApiServer();
      await eventually('the API server is ready again', () => client.raw('/readyz').catch(() => undefined), {
        everyMs: 100,
      });
      const resumed = client.watch(configMaps, { namespace, resourceVersion, signal: AbortSignal.timeout(60_000) });
      await refusal(resumed[Symbol.asyncIterator]().next(), 'Gone');
      assert.equal(reflector.store.size, 24, 'cut off, it keeps what it knew');
      wire.restore();
      await holds('what happened meanwhile has arrived');
      assert.ok(!mirror.has(`${namespace}/m3`));
      assert.equal(snapshots, 2);
    } finally {
      stop.abort(new Error('over'));
      await running;
      await watcher.close();
      await wire.close();
    }
  });
}

test('preconditions stop a delete and a replace of what has changed', async () => {
  const namespace = await cluster.createNamespace('precondition');
  const first = await put(namespace, 'x', '1');
  const second = await put(namespace, 'x', '2');
  const ref = { namespace, name: 'x' };
  const { uid = '', resourceVersion = '' } = second.metadata ?? {};
  await refusal(client.delete(configMaps, ref, { preconditions: { uid: 'another' } }), 'Conflict');
  const stale = { uid, resourceVersion: first.metadata?.resourceVersion ?? '' };
  await refusal(client.delete(configMaps, ref, { preconditions: stale }), 'Conflict');
  await refusal(client.replace(configMaps, first), 'Conflict');
  assert.equal((await client.replace(configMaps, { ...second, data: { text: '3' } })).data?.text, '3');
  const { metadata } = await client.get(configMaps, ref);
  await refusal(client.delete(configMaps, ref, { preconditions: { uid, resourceVersion } }), 'Conflict');
  await client.delete(configMaps, ref, { preconditions: { uid, resourceVersion: metadata?.resourceVersion ?? '' } });
  await refusal(client.get(configMaps, ref), 'NotFound');
  await refusal(client.delete(configMaps, ref), 'NotFound');
});

test('every kind of patch, dry runs, and what the server refuses', async () => {
  const namespace = await cluster.createNamespace('patch');
  const ref = { namespace, name: 'x' };
  await client.create(configMaps, { metadata: ref, data: { a: '1', b: '1' } }, { fieldManager: 'edgeset-test' });
  await refusal(client.create(configMaps, { metadata: ref }), 'AlreadyExists');
  const merged = await client.patch(configMaps, ref, { data: { a: null, c: '2' } }, { type: 'merge' });
  assert.deepEqual(merged.data, { b: '1', c: '2' });
  const strategic = await client.patch(configMaps, ref, { data: { $patch: 'replace', d: '3' } }, { type: 'strategic' });
  assert.deepEqual(strategic.data, { d: '3' });
  const json = await client.patch(configMaps, ref, [{ op: 'replace', path: '/data/d', value: '4' }], { type: 'json' });
  assert.deepEqual(json.data, { d: '4' });
  await refusal(
    client.patch(configMaps, ref, [{ op: 'test', path: '/data/d', value: 'no' }], { type: 'json' }),
    'Invalid',
  );
  const typed = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } };
  const apply = { type: 'apply', fieldManager: 'edgeset-other' } as const;
  await refusal(client.patch(configMaps, ref, { ...typed, data: { d: '5' } }, apply), 'Conflict');
  const forced = await client.patch(configMaps, ref, { ...typed, data: { d: '5' } }, { ...apply, force: true });
  assert.deepEqual(forced.data, { d: '5' });
  const dry = await client.patch(configMaps, ref, { data: { d: '6' } }, { type: 'merge', dryRun: true });
  assert.deepEqual(dry.data, { d: '6' });
  assert.deepEqual((await client.get(configMaps, ref)).data, { d: '5' });
  await refusal(client.patch(configMaps, ref, { data: [] }, { type: 'merge' }), 'Invalid');
});

test('repeated events become one with a count', async () => {
  const namespace = await cluster.createNamespace('events');
  const recorder = createEventRecorder({
    client,
    env,
    reportingController: 'edgeset.io/test',
    reportingInstance: 'test-0',
    seriesIntervalMs: 500,
  });
  const stop = new AbortController();
  const running = recorder.run(stop.signal);
  const regarding = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'x' };
  const report = (note: string) =>
    recorder.event({ regarding, type: 'Warning', reason: 'Testing', action: 'Test', note });
  report('first');
  await recorder.flush();
  for (let at = 0; at < 9; at += 1) report('first');
  report(`other ${'ü'.repeat(2000)}`);
  const seen = await eventually(
    'the series has its count',
    async () => {
      const { items } = await client.list(events, { namespace });
      return items.some(({ series }) => series?.count === 10) && items;
    },
    { everyMs: 50 },
  );
  assert.deepEqual(new Set(seen.map(({ message }) => message?.slice(0, 5))), new Set(['first', 'other']));
  assert.equal(recorder.dropped, 0);
  // What kubectl describe sorts by, and shows.
  for (const { firstTimestamp = '', lastTimestamp = '', eventTime, count, series } of seen) {
    assert.ok(firstTimestamp !== '' && firstTimestamp <= lastTimestamp);
    assert.equal(Math.floor(Date.parse(eventTime ?? '') / 1000), Date.parse(firstTimestamp) / 1000);
    assert.equal(count, series?.count ?? 1);
  }
  stop.abort(new Error('over'));
  await running;
});
