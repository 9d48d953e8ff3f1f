import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { createApiServer, createInProcessClient } from '../../../../embedded/index.ts';
import { createStore, type KubeClient, KubeError, keyOf, pods as podResource } from '../../../kube/index.ts';
import type { Ledger } from '../../../rollout/index.ts';
import { createVirtualClock, silentLogger } from '../../../runtime/index.ts';
import { toAdvancedView } from '../advanced-view.ts';
import type { AdvancedDaemonSet } from '../api/types.ts';
import { type CachedPod, cachedPods } from '../podcontrol/cached-pod.ts';
import { newPod } from '../podcontrol/new-pod.ts';
import type { CurrentRevision } from '../revisions/sync-history.ts';
import { NAMESPACE, withFleet } from '../testing/fleet.ts';
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

/** A pod creator with an API server, and a cache that shows pods from responses, unless it `lacks` them, and as the test says. */
const prepare = (ledger: Pick<Ledger, 'get'> = { get: () => undefined }, lacks = false) => {
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
  const meets: ((create: () => Promise<unknown>, mayRepeat?: () => boolean) => Promise<void>)[] = [];
  const create: KubeClient['create'] = async (...args) => {
    const meet = meets.shift();
    await meet?.(() => api.create(...args), args[2]?.mayRepeat);
    return api.create(...args);
  };
  const read: (() => void)[] = [];
  const get: KubeClient['get'] = async (...args) => {
    const found = await api.get(...args);
    read.shift()?.();
    return found;
  };
  const shown = (pod: Pod): void => {
    const cached = cachedPods.project(pod, view.uid);
    assert.ok(cached);
    seen.set(keyOf(pod), cached);
    creator.expectations.podObserved(cached);
  };
  const accept = (pod: Pod): void => {
    if (!lacks) shown(pod);
  };
  const creator = createPodCreator({
    client: { ...api, create, get },
    env: { clock, random: () => 0.5, log: silentLogger },
    view: () => view,
    ledger,
    nodes: createStore(),
    pods: seen,
    podCache: { accept, acceptDeletion: () => undefined, reached: () => true },
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
    /** Called for each creation in turn. */
    meets,
    /** Called for each read of a pod in turn. */
    read,
    begin: (hash: string, ...names: string[]): void =>
      creator.start(
        view,
        revision(hash),
        names.map((node) => ({ node, replaces: undefined })),
        signal,
      ),
    shown,
    cached: () => [...seen.values()].map(({ facts }) => facts.uid),
    /** The cache no longer shows the pod. */
    gone: (pod: Pod): void => {
      const cached = cachedPods.project(pod, view.uid);
      assert.ok(cached);
      seen.delete(keyOf(pod));
      creator.podGone(cached);
    },
    all: async (): Promise<Pod[]> => (await api.list(podResource, { namespace: 'default' })).items,
  };
};

it('no pod is created where the cache shows one since the decision', async () => {
  const { api, view, creator, clock, meets, begin, shown, all } = prepare();
  const purpose = { node: 'node-2', nodeUid: '', revision: 'h0', replaces: undefined };
  const other = newPod({ ...purpose, daemonSet: view, template, gates: [] });
  meets.push(async () => shown(await api.create(podResource, other)));
  begin('h1', 'node-1', 'node-2', 'node-3');
  await clock.advance(1_000);
  assert.equal(creator.isIdle(), true);
  assert.equal((await all()).filter(({ metadata }) => metadata?.name !== other.metadata?.name).length, 2);
});

it('after a lost response the pod is read before its node gets one of another revision', async () => {
  const { clock, meets, begin, cached, all } = prepare();
  meets.push(async (create) => {
    await create();
    throw cutOff();
  });
  begin('h1', 'node-1');
  await clock.advance(60_000);
  assert.deepEqual(cached(), []);
  begin('h2', 'node-1');
  await clock.advance(1_000);
  assert.deepEqual(
    (await all()).map(({ metadata }) => metadata?.uid),
    cached(),
  );
  assert.equal(cached().length, 1);
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

for (const lacks of [false, true])
  for (const terminates of [false, true])
    it(`a pod of an earlier leader that no watch has shown${terminates ? ', and that terminates,' : ''} takes its node${lacks ? ', also if the cache has lost it' : ''}`, async () => {
      const { api, view, clock, begin, cached, all } = prepare(undefined, lacks);
      const purpose = { node: 'node-1', nodeUid: '', revision: 'h0', replaces: 'someone' };
      const pod = newPod({ ...purpose, daemonSet: view, template, gates: [] });
      const theirs = await api.create(podResource, { ...pod, metadata: { ...pod.metadata, finalizers: ['a/b'] } });
      const { name = '', uid = '' } = theirs.metadata ?? {};
      if (terminates) await api.delete(podResource, { namespace: 'default', name });
      begin('h1', 'node-1', 'node-2');
      await clock.advance(1_000);
      assert.equal((await all()).length, lacks ? 1 : 2);
      assert.equal(cached().includes(uid), !lacks);
    });

it('a creation that a busy API server puts off is not repeated once the node needs no pod', async () => {
  const { api, view, creator, clock, meets, begin, shown, all } = prepare();
  const purpose = { node: 'node-1', nodeUid: '', revision: 'h0', replaces: undefined };
  const other = newPod({ ...purpose, daemonSet: view, template, gates: [] });
  const wanted: (boolean | undefined)[] = [];
  meets.push(async (_create, mayRepeat) => {
    wanted.push(mayRepeat?.());
    shown(await api.create(podResource, other));
    wanted.push(mayRepeat?.());
    throw new KubeError('TooManyRequests', 'busy', { status: 429 });
  });
  begin('h1', 'node-1');
  await clock.advance(1_000);
  assert.deepEqual(wanted, [true, false]);
  assert.deepEqual([(await all()).length, creator.isIdle(), creator.refusal()], [1, true, undefined]);
});

describe('the name of a pod', () => {
  /** The first pod of a node, and the name of the one that follows once `between` was done. */
  const namesOf = async (
    between: (parts: ReturnType<typeof prepare>, first: Pod) => Promise<void>,
    parts = prepare(),
  ): Promise<(string | undefined)[]> => {
    const { clock, begin, shown, all } = parts;
    begin('h1', 'node-1');
    await clock.advance(1_000);
    const [first] = await all();
    assert.ok(first);
    shown(first);
    await between(parts, first);
    begin('h1', 'node-1');
    await clock.advance(1_000);
    return [first, ...(await all())].map(({ metadata }) => metadata?.name);
  };
  const remove = async ({ api, gone }: ReturnType<typeof prepare>, pod: Pod): Promise<void> => {
    await api.delete(podResource, { namespace: 'default', name: pod.metadata?.name ?? '' }, { gracePeriodSeconds: 0 });
    gone(pod);
  };

  it('is not the one of the pod before it', async () => {
    const [first, next, ...others] = await namesOf(remove);
    assert.ok(next !== undefined && others.length === 0);
    assert.notEqual(next, first);
  });

  it('is not the one of the pod that an open update deleted, also for a process that has not seen it', async () => {
    const update = {
      podUid: 'old',
      podName: 'app-1',
      podResourceVersion: '1',
      rollout: 1,
      at: 0,
      stage: 'done',
    } as const;
    const nameWith = async (ledger?: Pick<Ledger, 'get'>): Promise<string | undefined> => {
      const { clock, begin, all } = prepare(ledger);
      begin('h1', 'node-1');
      await clock.advance(1_000);
      return (await all())[0]?.metadata?.name;
    };
    const get = () => ({ update }) as unknown as ReturnType<Ledger['get']>;
    assert.notEqual(await nameWith({ get }), await nameWith());
    assert.equal(await nameWith({ get }), await nameWith({ get }), 'two leaders choose the same');
  });

  it('is another one where a pod of somebody else has it', async () => {
    const { api, view, clock, begin, all } = prepare();
    const purpose = { node: 'node-1', nodeUid: '', revision: 'h1', replaces: undefined };
    const pod = newPod({ ...purpose, daemonSet: view, template, gates: [] });
    await api.create(podResource, { ...pod, metadata: { ...pod.metadata, ownerReferences: [] } });
    begin('h1', 'node-1');
    await clock.advance(1_000);
    assert.equal((await all()).length, 1);
    begin('h1', 'node-1');
    await clock.advance(1_000);
    assert.equal((await all()).length, 2);
  });

  it('does not let a node have two pods when a list lacked the first one', async () => {
    const [first, same, ...others] = await namesOf(async ({ gone }, pod) => gone(pod));
    assert.equal(same, first);
    assert.deepEqual(others, []);
  });
});

const sixNodes = ['node-1', 'node-2', 'node-3', 'node-4', 'node-5', 'node-6'];

it(
  'pods are created one by one with burstReplicas 1, also if they never start',
  withFleet(async ({ clock, create, pods, until }) => {
    const startedAt = clock.now();
    const spec = { schedulerName: 'nobody', containers: [{ name: 'app', image: 'app:v1' }] };
    await create({ burstReplicas: 1 }, {}, { spec });
    await until('six pods exist', async () => (await pods()).length === sixNodes.length);
    assert.ok(clock.now() - startedAt < 2_000, `${clock.now() - startedAt} ms`);
  }, sixNodes),
);

it(
  'pods of other leaders are listed once before the first creation, again after a failure, and again by the next leader',
  withFleet(async ({ create, pods, until, faults, requests, stop, restart, setImage, allRun }) => {
    const reads = (): number =>
      requests.filter(({ verb, plural, name }) => verb === 'list' && plural === 'pods' && name === 'app=app').length;
    const unavailable = new KubeError('ServiceUnavailable', 'not now', { status: 503 });
    faults.push({ verb: 'list', plural: 'pods', name: 'app=app', error: unavailable, left: 2 });
    await create();
    await until('three pods exist', async () => (await pods()).length === 3);
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

const quota = () => new KubeError('Forbidden', 'exceeded quota', { status: 403 });
const lost = () => new KubeError('Timeout', 'no answer', { happened: 'unknown' });

describe('new pods', () => {
  it(
    'exist once each after a lost response',
    withFleet(async (fleet) => {
      fleet.faults.push({ verb: 'create', plural: 'pods', error: lost(), happened: true, left: 2 });
      await fleet.create();
      await fleet.allRun('app:v1');
      assert.equal(fleet.reasons().includes('FailedCreate'), false);
    }),
  );

  it(
    'get another name if theirs is taken by a foreign pod',
    withFleet(async (fleet) => {
      await fleet.create();
      const before = await fleet.allRun('app:v1');
      const name = before.get('node-1')?.metadata?.name ?? '';
      // The release fails at first: until then the DaemonSet still owns the pod.
      fleet.faults.push({ verb: 'patch', plural: 'pods', error: quota(), left: 1 });
      const since = fleet.clock.now();
      await fleet.patchPod(name, { labels: { app: 'other' } });
      const after = await fleet.until('node-1 has another pod', async () => {
        const pod = (await fleet.pods()).find(
          ({ spec, metadata }) => spec?.nodeName === 'node-1' && metadata?.name !== name,
        );
        return pod !== undefined && pod.metadata?.labels?.['app'] === 'app' ? pod : undefined;
      });
      assert.notEqual(after.metadata?.name, name);
      assert.ok(fleet.clock.now() - since < 5_000);
      await fleet.until('the pod is released', async () => {
        const pod = await fleet.client.get(podResource, { namespace: NAMESPACE, name });
        return pod.metadata?.ownerReferences === undefined || pod.metadata.ownerReferences.length === 0;
      });
    }),
  );
});
