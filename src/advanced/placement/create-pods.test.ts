import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { createStore, type KubeClient, KubeError, keyOf, pods as podResource } from '../../kube/index.ts';
import { createVirtualClock, silentLogger } from '../../runtime/index.ts';
import { createApiServer, createInProcessClient } from '../../sim/index.ts';
import { toAdvancedView } from '../advanced-view.ts';
import type { AdvancedDaemonSet } from '../api/types.ts';
import { type CachedPod, cachedPods } from '../podcontrol/cached-pod.ts';
import { newPod } from '../podcontrol/new-pod.ts';
import type { CurrentRevision } from '../revisions/sync-history.ts';
import { withFleet } from '../testing/fleet.ts';
import { createPodCreator } from './create-pods.ts';

const template = {
  metadata: { labels: { app: 'app' } },
  spec: { schedulerName: 'nobody', containers: [{ name: 'app', image: 'app:v1' }] },
};
const revision = (hash: string): CurrentRevision => ({
  target: { name: `app-${hash}`, hash, number: 1 },
  template,
  plans: new Map(),
  templates: new Map([[hash, template]]),
  overLimit: new Set(),
});

const cutOff = (): KubeError => new KubeError('Transport', 'cut off', { happened: 'unknown' });

/** A creator in front of an API server, and a watch that shows pods when the test says so. */
const prepare = () => {
  const clock = createVirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const api = createInProcessClient(createApiServer({ clock, random: () => 0.5 }));
  const daemonSet: AdvancedDaemonSet = {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'DaemonSet',
    metadata: { name: 'app', namespace: 'default', uid: 'ds', generation: 1 },
    spec: { selector: { matchLabels: { app: 'app' } }, template },
  };
  const view = toAdvancedView(daemonSet);
  assert.ok(view);
  const seen = createStore<CachedPod>();
  const meets: ((create: () => Promise<unknown>) => Promise<void>)[] = [];
  const create: KubeClient['create'] = async (...args) => {
    const meet = meets.shift();
    await meet?.(() => api.create(...args));
    return api.create(...args);
  };
  const read: (() => void)[] = [];
  const get: KubeClient['get'] = async (...args) => {
    const found = await api.get(...args);
    read.shift()?.();
    return found;
  };
  const creator = createPodCreator({
    client: { ...api, create, get },
    env: { clock, random: () => 0.5, log: silentLogger },
    view: () => view,
    pods: seen,
    events: { event: () => undefined, warnOnce: () => undefined },
    metrics: {},
    enqueue: () => undefined,
  });
  const { signal } = new AbortController();
  return {
    api,
    clock,
    view,
    creator,
    /** What befalls creations in their turn. */
    meets,
    /** What happens while pods are read, in their turn. */
    read,
    begin: (hash: string, ...nodes: string[]): void =>
      creator.start(
        view,
        revision(hash),
        nodes.map((node) => ({ node, replaces: undefined })),
        signal,
      ),
    shown: (pod: Pod): void => {
      const kept = cachedPods.project(pod, view.uid);
      assert.ok(kept);
      seen.set(keyOf(pod), kept);
      creator.podObserved(kept);
    },
    all: async (): Promise<Pod[]> => (await api.list(podResource, { namespace: 'default' })).items,
  };
};

it('no pod is created where the cache shows one since the decision', async () => {
  const { api, view, creator, clock, meets, begin, shown, all } = prepare();
  const other = newPod({ daemonSet: view, template, node: 'node-2', revision: 'h0', replaces: undefined, gates: [] });
  meets.push(async () => shown(await api.create(podResource, other)));
  begin('h1', 'node-1', 'node-2', 'node-3');
  await clock.advance(1_000);
  assert.equal(creator.isIdle(), true);
  assert.equal((await all()).filter(({ metadata }) => metadata?.name !== other.metadata?.name).length, 2);
});

it('after a lost response the pod is read before its node gets one of another revision', async () => {
  const { creator, clock, meets, begin, shown, all } = prepare();
  meets.push(async (create) => {
    await create();
    throw cutOff();
  });
  begin('h1', 'node-1');
  await clock.advance(60_000);
  begin('h2', 'node-1');
  await clock.advance(1_000);
  const [pod, ...others] = await all();
  assert.ok(pod);
  assert.deepEqual([others.length, creator.isExpected('node-1')], [0, true]);
  shown(pod);
  assert.equal(creator.isExpected('node-1'), false);
});

it('a pod that the cache shows while it is read is no longer expected', async () => {
  const { creator, clock, meets, read, begin, shown, all } = prepare();
  meets.push(async (create) => {
    await create();
    throw cutOff();
  });
  begin('h1', 'node-1');
  await clock.advance(60_000);
  const made = await all();
  read.push(() => made.forEach(shown));
  begin('h2', 'node-1');
  await clock.advance(1_000);
  assert.deepEqual([made.length, (await all()).length, creator.isExpected('node-1')], [1, 1, false]);
});

it('a pod that was not created does not delay another one', async () => {
  const { clock, meets, begin, all } = prepare();
  meets.push(() => Promise.reject(cutOff()));
  begin('h1', 'node-1');
  await clock.advance(60_000);
  begin('h2', 'node-1');
  await clock.advance(1_000);
  assert.equal((await all()).length, 1);
});

const nodes = ['node-1', 'node-2', 'node-3', 'node-4', 'node-5', 'node-6'];

it(
  'pods are created one by one with burstReplicas 1, also if they never start',
  withFleet(async ({ clock, create, pods, until }) => {
    const startedAt = clock.now();
    const spec = { schedulerName: 'nobody', containers: [{ name: 'app', image: 'app:v1' }] };
    await create({ burstReplicas: 1 }, {}, { spec });
    await until('there are six', async () => (await pods()).length === nodes.length);
    assert.ok(clock.now() - startedAt < 2_000, `${clock.now() - startedAt} ms`);
  }, nodes),
);

it(
  'pods of other leaders are listed once before the first creation, again after a failure, and again by the next leader',
  withFleet(async ({ create, pods, until, faults, requests, stop, restart, setImage, allRun }) => {
    const reads = (): number =>
      requests.filter(({ verb, plural, name }) => verb === 'list' && plural === 'pods' && name === 'app=app').length;
    const unavailable = new KubeError('ServiceUnavailable', 'not now', { status: 503 });
    faults.push({ verb: 'list', plural: 'pods', name: 'app=app', error: unavailable, left: 2 });
    await create();
    await until('there are three', async () => (await pods()).length === 3);
    assert.equal(reads(), 3);
    await setImage('app:v2');
    await allRun('app:v2');
    assert.equal(reads(), 3);
    await stop();
    await restart();
    await setImage('app:v3');
    await allRun('app:v3');
    assert.equal(reads(), 4);
  }),
);
