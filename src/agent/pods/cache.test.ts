import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createApiServer, createInProcessClient } from '../../../embedded/index.ts';
import { eventually } from '../../../test/support/index.ts';
import { type KubeClient, KubeError, pods } from '../../kube/index.ts';
import { anySignal, createVirtualClock, silentLogger, sleep } from '../../runtime/index.ts';
import { createTroubles } from '../troubles.ts';
import { createPodCache, type PodCache } from './index.ts';

const podOn = (node: string, name: string, namespace = 'default'): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace },
  spec: { nodeName: node, containers: [{ name: 'app', image: 'app:v1', env: [{ name: 'KEY', value: 'hunter2' }] }] },
});

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );
describe('the pod cache', () => {
  let dir = '';
  const stops: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'edgeset-pods-'));
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await rm(dir, { recursive: true, force: true });
  });

  const testbed = () => {
    const clock = createVirtualClock(1_800_000_000_000);
    const env = { clock, random: () => 0.5, log: silentLogger };
    const apiServer = createApiServer({ clock, random: () => 0.5 });
    for (const name of ['node-1', 'node-2'])
      apiServer.create<object>(
        { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false },
        { metadata: { name } },
      );
    const direct = createInProcessClient(apiServer);
    const link = { cut: false, watches: 0, listMs: 0 };
    const broken = (): never => {
      throw new KubeError('Transport', 'the link is cut');
    };
    const client: Pick<KubeClient, 'list' | 'watch'> = {
      async list(resource, options) {
        if (link.cut) broken();
        const { listMs } = link;
        await sleep(clock, Math.min(listMs, options?.timeoutMs ?? listMs));
        if (listMs > (options?.timeoutMs ?? listMs)) throw new KubeError('Timeout', 'no answer came');
        return direct.list(resource, options);
      },
      watch: (resource, options) => {
        link.watches += 1;
        return link.cut ? broken() : direct.watch(resource, options);
      },
    };
    const start = (
      options: { namespaces?: readonly string[] } = {},
    ): { cache: PodCache; stop: () => Promise<void> } => {
      const cache = createPodCache({ client, env, node: 'node-1', dir, troubles: createTroubles(env.log), ...options });
      const ended = new AbortController();
      const running = cache.run(ended.signal);
      const stop = async (): Promise<void> => {
        ended.abort();
        await running;
      };
      stops.push(stop);
      return { cache, stop };
    };
    return { clock, env, apiServer, client, link, start };
  };
  const names = (cache: PodCache): string[] =>
    cache
      .list()
      .map(({ metadata }) => metadata?.name ?? '')
      .toSorted();

  it('contains the sanitized pods of its node', async () => {
    const { clock, apiServer, start } = testbed();
    apiServer.create<object>(pods, podOn('node-1', 'mine'));
    apiServer.create<object>(pods, podOn('node-2', 'theirs'));
    const { cache } = start();
    assert.equal(cache.connected(), false);
    await clock.advance(10);
    assert.deepEqual(names(cache), ['mine']);
    assert.equal(cache.connected(), true);
    assert.ok(!JSON.stringify(cache.list()).includes('hunter2'));
    let changes = 0;
    cache.onChange(() => (changes += 1));
    apiServer.create<object>(pods, podOn('node-1', 'another'));
    await clock.advance(10);
    assert.deepEqual(names(cache), ['another', 'mine']);
    assert.ok(changes > 0);
    assert.equal(cache.get({ namespace: 'default', name: 'another' })?.spec?.nodeName, 'node-1');
  });

  it('is connected again only once it is synced', async () => {
    const { clock, env, apiServer, client } = testbed();
    apiServer.create<object>(pods, podOn('node-1', 'before'));
    let broken = new AbortController();
    const gone: Pick<KubeClient, 'list' | 'watch'> = {
      ...client,
      async *watch(resource, options = {}) {
        const life = broken.signal;
        const signal = options.signal ? anySignal(options.signal, life) : life;
        try {
          yield* client.watch(resource, { ...options, signal });
        } catch (error) {
          throw life.aborted ? new KubeError('Gone', 'too old', { status: 410 }) : error;
        }
      },
    };
    const cache = createPodCache({ client: gone, env, node: 'node-1', dir, troubles: createTroubles(env.log) });
    const ended = new AbortController();
    const running = cache.run(ended.signal);
    stops.push(() => {
      ended.abort();
      return running;
    });
    await clock.advance(10);
    assert.equal(cache.connected(), true);
    const seen: string[] = [];
    cache.onChange(() => {
      if (cache.connected()) seen.push(names(cache).join());
    });
    broken.abort(new Error('compacted'));
    apiServer.create<object>(pods, podOn('node-1', 'after'));
    broken = new AbortController();
    await clock.advance(1_000);
    assert.equal(cache.connected(), true);
    assert.deepEqual([...new Set(seen)], ['after,before']);
  });

  it('works after a restart without a network, with its age since the last contact', async () => {
    const { clock, apiServer, link, start } = testbed();
    apiServer.create<object>(pods, podOn('node-1', 'mine'));
    const first = start();
    await clock.advance(120_000);
    link.cut = true;
    await first.stop();
    await clock.advance(3_600_000);
    const { cache } = start();
    assert.deepEqual(names(cache), ['mine']);
    assert.equal(cache.connected(), false);
    assert.ok(cache.ageSeconds() >= 3600, String(cache.ageSeconds()));
    const contact = cache.lastContact();
    await clock.advance(600_000);
    assert.ok(cache.ageSeconds() >= 4200, String(cache.ageSeconds()));
    assert.equal(cache.lastContact(), contact);
    link.cut = false;
    await clock.advance(40_000);
    assert.equal(cache.connected(), true);
    assert.ok(cache.ageSeconds() < 120);
    assert.deepEqual(names(cache), ['mine']);
  });

  it('loses no change that is older than two seconds in a power cut', async () => {
    const { clock, apiServer, link, start } = testbed();
    start();
    await clock.advance(10);
    apiServer.create<object>(pods, podOn('node-1', 'mine'));
    await clock.advance(2_000);
    const file = path.join(dir, 'pods.json');
    await eventually('the cache is written', () => exists(file));
    link.cut = true;
    const { cache } = start();
    assert.deepEqual(names(cache), ['mine']);
  });

  it('writes nothing and sends no requests at rest', async () => {
    const { clock, apiServer, link, start } = testbed();
    apiServer.create<object>(pods, podOn('node-1', 'mine'));
    const { cache } = start();
    await clock.advance(5_000);
    const file = path.join(dir, 'pods.json');
    await eventually('the cache is written', () => exists(file));
    const before = (await stat(file)).mtimeMs;
    const { watches } = link;
    cache.onChange(() => assert.equal(cache.connected(), true, 'a watch that the server ends is no lost link'));
    await clock.advance(3_600_000);
    assert.equal((await stat(file)).mtimeMs, before);
    assert.ok(link.watches - watches <= 12, `${link.watches - watches} watches in an hour`);
    assert.equal(cache.connected(), true);
    assert.ok(cache.ageSeconds() <= 61);
  });

  it('is limited to the given namespaces, and shows them only once all are synced', async () => {
    const { clock, apiServer, start, link } = testbed();
    for (const name of ['one', 'two', 'three']) {
      apiServer.create<object>(
        { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false },
        { metadata: { name } },
      );
      apiServer.create<object>(pods, podOn('node-1', `in-${name}`, name));
    }
    const first = start({ namespaces: ['one', 'two'] });
    await clock.advance(10);
    assert.deepEqual(names(first.cache), ['in-one', 'in-two']);
    await first.stop();
    link.cut = true;
    assert.deepEqual(names(start({ namespaces: ['one', 'two'] }).cache), ['in-one', 'in-two']);
  });

  it('ignores the saved state of another node', async () => {
    const { clock, env, client, apiServer, start } = testbed();
    apiServer.create<object>(pods, podOn('node-1', 'mine'));
    const first = start();
    await clock.advance(10);
    await first.stop();
    const troubles = createTroubles(env.log);
    assert.deepEqual(createPodCache({ client, env, node: 'node-2', dir, troubles }).list(), []);
  });

  it('detects by itself that a silent connection has recovered', async () => {
    const { clock, start } = testbed();
    const { cache } = start();
    await clock.advance(10);
    cache.connection.failed(new KubeError('Transport', 'the link is cut'), clock.now());
    assert.equal(cache.connected(), false);
    await clock.advance(1_100);
    assert.equal(cache.connected(), true);
  });

  for (const [listMs, expected] of [
    [9_000, 'slow'],
    [60_000, 'lost'],
  ] as const)
    it(`asks again after a call that was given up, and then knows that the link is ${expected}`, async () => {
      const { clock, link, start } = testbed();
      const { cache } = start();
      await clock.advance(60_000);
      const sentAt = clock.now();
      link.listMs = listMs;
      await clock.advance(4_500);
      cache.connection.failed(new KubeError('Timeout', 'no answer came'), sentAt);
      assert.equal(cache.connected(), true);
      await clock.advance(30_000);
      assert.equal(cache.connected(), expected === 'slow');
      link.listMs = 0;
      await clock.advance(60_000);
      assert.equal(cache.connected(), true);
    });
});
