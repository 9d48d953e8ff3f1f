import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConfigMap } from 'kubernetes-types/core/v1.d.ts';
import { createClient, createReflector, isKubeError, type KubeClient, type WatchEvent } from '../../src/kube/index.ts';
import { createRandom, type Env, silentLogger, systemClock } from '../../src/runtime/index.ts';
import { eventually } from '../../test/support/index.ts';
import type { ApiServer } from '../types.ts';
import { createInProcessClient } from './client.ts';
import { startHttpsServer } from './http/https-server.ts';
import { createApiServer, stateOf } from './server.ts';
import { configMap, configMaps, createTestServer } from './testing/index.ts';

const ref = (name: string) => ({ namespace: 'default', name });

interface Connection {
  apiServer: ApiServer;
  client: KubeClient;
  env: Env;
  end(): Promise<void>;
}

const env: Env = { clock: systemClock, random: createRandom(7), log: silentLogger };

const inProcess = (history?: number): Promise<Connection> => {
  const apiServer = createApiServer({ ...env, ...(history === undefined ? {} : { history }) });
  const client = createInProcessClient(apiServer);
  return Promise.resolve({ apiServer, client, env, end: () => client.close() });
};

const overHttp = async (history?: number): Promise<Connection> => {
  const apiServer = createApiServer({ ...env, ...(history === undefined ? {} : { history }) });
  const server = await startHttpsServer({ apiServer, wallClock: systemClock });
  const client = createClient(
    {
      server: server.server,
      namespace: 'default',
      source: 'test',
      insecureSkipTlsVerify: false,
      certificateAuthority: { from: 'text', text: server.certificateAuthority },
      auth: { token: { from: 'text', text: server.token } },
    },
    { env, userAgent: 'edgeset-test/0', qps: 0 },
  );
  return {
    apiServer,
    client,
    env,
    async end() {
      await client.close();
      await server.stop();
    },
  };
};

const take = async <T>(stream: AsyncIterable<WatchEvent<T>>, count: number): Promise<WatchEvent<T>[]> => {
  const taken: WatchEvent<T>[] = [];
  for await (const event of stream) {
    taken.push(event);
    if (taken.length === count) break;
  }
  return taken;
};

const textOf = (event: WatchEvent<ConfigMap>): string =>
  event.type === 'BOOKMARK' ? `BOOKMARK ${event.initialEventsEnd}` : `${event.type} ${event.object.metadata?.name}`;

for (const [transport, connect] of [
  ['in process', inProcess],
  ['over HTTP', overHttp],
] as const) {
  describe(`the product's own client, ${transport}`, () => {
    const using = async (act: (connection: Connection) => Promise<void>, history?: number): Promise<void> => {
      const connection = await connect(history);
      try {
        await act(connection);
      } finally {
        await connection.end();
      }
    };

    it('creates, reads, updates and deletes', () =>
      using(async ({ client }) => {
        const made = await client.create(configMaps, configMap('c'));
        assert.equal((await client.get(configMaps, ref('c'))).metadata?.uid, made.metadata?.uid);
        await client.patch(configMaps, ref('c'), { data: { b: '2' } }, { type: 'merge' });
        await assert.rejects(client.replace(configMaps, made), (error) => isKubeError(error, 'Conflict'));
        await client.patch(
          configMaps,
          ref('c'),
          { apiVersion: 'v1', kind: 'ConfigMap', data: { d: '4' } },
          { type: 'apply', fieldManager: 'test' },
        );
        assert.deepEqual((await client.get(configMaps, ref('c'))).data, { a: '1', b: '2', d: '4' });
        assert.equal(await client.delete(configMaps, ref('c')), undefined);
        await assert.rejects(client.get(configMaps, ref('c')), (error) => isKubeError(error, 'NotFound'));
        assert.equal(await client.raw('/readyz'), 'ok');
      }));

    it('paginated lists', () =>
      using(async ({ client }) => {
        for (const name of ['a', 'b', 'c']) await client.create(configMaps, configMap(name));
        const first = await client.list(configMaps, { limit: 2 });
        const rest = await client.list(configMaps, { limit: 2, continue: first.continue ?? '' });
        assert.deepEqual([first.items.length, rest.items.length, rest.continue], [2, 1, undefined]);
        assert.equal(first.resourceVersion, rest.resourceVersion);
      }));

    it('streams the initial state, its end, and later changes', () =>
      using(async ({ client }) => {
        await client.create(configMaps, configMap('a'));
        const stream = take(client.watch(configMaps, { sendInitialEvents: true, labelSelector: '!hidden' }), 5);
        await client.create(configMaps, configMap('b'));
        await client.create(configMaps, configMap('c', { hidden: '1' }));
        await client.patch(configMaps, ref('a'), { metadata: { labels: { hidden: '1' } } }, { type: 'merge' });
        await client.patch(configMaps, ref('a'), { metadata: { labels: { hidden: null } } }, { type: 'merge' });
        const received = (await stream).map(textOf);
        // Whether `b` is in the initial state or arrives later is random.
        assert.deepEqual(received.toSorted(), ['ADDED a', 'ADDED a', 'ADDED b', 'BOOKMARK true', 'DELETED a']);
        assert.deepEqual(received.slice(-2), ['DELETED a', 'ADDED a']);
      }));

    it('resumes from a version, and gets 410 once it is compacted', () =>
      using(async ({ client, apiServer }) => {
        const { resourceVersion } = await client.list(configMaps);
        await client.create(configMaps, configMap('a'));
        await client.delete(configMaps, ref('a'));
        const received = await take(client.watch(configMaps, { resourceVersion }), 2);
        assert.deepEqual(received.map(textOf), ['ADDED a', 'DELETED a']);
        stateOf(apiServer).store.compact();
        await assert.rejects(take(client.watch(configMaps, { resourceVersion }), 1), (error) =>
          isKubeError(error, 'Gone'),
        );
      }));

    it('compacts changes beyond its history', () =>
      using(async ({ client }) => {
        const { resourceVersion } = await client.list(configMaps);
        for (let index = 0; index < 12; index += 1) await client.create(configMaps, configMap(`c${index}`));
        await assert.rejects(take(client.watch(configMaps, { resourceVersion }), 1), (error) =>
          isKubeError(error, 'Gone'),
        );
      }, 4));

    it('keeps a reflector up to date, through a relist', () =>
      using(async ({ client, apiServer }) => {
        const stop = new AbortController();
        const reflector = createReflector<ConfigMap, string>({
          client,
          resource: configMaps,
          env,
          project: ({ data }) => data?.a ?? '',
        });
        const running = reflector.run(stop.signal);
        await client.create(configMaps, configMap('a'));
        await reflector.whenSynced();
        await client.create(configMaps, configMap('b'));
        await eventually('both are seen', () => reflector.store.size === 2);
        await client.patch(configMaps, ref('b'), { data: { a: '2' } }, { type: 'merge' });
        await client.delete(configMaps, ref('a'));
        await eventually(
          'the changes are seen',
          () => reflector.store.get('default/b') === '2' && reflector.store.size === 1,
        );
        assert.equal(apiServer.list(configMaps).length, 1);
        stop.abort();
        await running;
      }));
  });
}

describe('the client without a connection, in virtual time', () => {
  it('sends bookmarks each minute and times out, by the injected clock', async () => {
    const { clock, apiServer } = createTestServer();
    const client = createInProcessClient(apiServer);
    const received: string[] = [];
    const done = (async () => {
      for await (const event of client.watch(configMaps, { timeoutSeconds: 150 })) received.push(textOf(event));
    })();
    await clock.advance(1000);
    await client.create(configMaps, configMap('early'));
    await clock.advance(148_000);
    await client.create(configMaps, configMap('late'));
    await clock.advance(2000);
    await done;
    assert.deepEqual(received, ['BOOKMARK true', 'ADDED early', 'BOOKMARK false', 'BOOKMARK false', 'ADDED late']);
  });

  it('ends a watch with the reason of its signal', async () => {
    const { apiServer } = createTestServer();
    const stop = new AbortController();
    const stream = take(createInProcessClient(apiServer).watch(configMaps, { signal: stop.signal }), 9);
    stop.abort(new Error('enough'));
    await assert.rejects(stream, /enough/);
  });
});
