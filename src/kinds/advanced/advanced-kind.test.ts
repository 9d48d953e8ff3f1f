import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { KubeError, nodes, pods as podResource } from '../../kube/index.ts';
import { createAdvancedKind } from './advanced-kind.ts';
import { type Fleet, NAMESPACE, withFleet } from './testing/fleet.ts';

const uidsOf = (pods: ReadonlyMap<string, Pod>): string[] =>
  [...pods.values()].map(({ metadata }) => metadata?.uid ?? '').toSorted();

/** The maximum number of nodes without an available pod at the same time, until `done` resolves. */
const mostDown = async (fleet: Fleet, change: () => Promise<unknown>, done: () => Promise<unknown>) => {
  let most = 0;
  const stop = new AbortController();
  const check = async (): Promise<void> => {
    const isReady = (pod: Pod): boolean =>
      !pod.metadata?.deletionTimestamp &&
      (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True') &&
      (pod.status?.conditions ?? []).every(({ type, status }) => type !== 'InPlaceUpdateReady' || status === 'True');
    const serving = (await fleet.pods()).filter(isReady).length;
    most = Math.max(most, 3 - serving);
  };
  const watch = (): void => {
    if (stop.signal.aborted) return;
    void check();
    fleet.clock.timer(20, watch);
  };
  watch();
  await change();
  await done();
  stop.abort();
  return most;
};

it('the names of DaemonRollouts lead back to Advanced DaemonSets, and others to none', () => {
  const kind = createAdvancedKind();
  assert.equal(kind.daemonSetOf(kind.rolloutName('app.v1')), 'app.v1');
  assert.equal(kind.daemonSetOf('app.v1'), undefined);
});

describe('an Advanced DaemonSet', () => {
  it(
    'gets a pod on each node and then makes no more requests',
    withFleet(async ({ create, allRun, get, requests, clock, reasons }) => {
      await create();
      await allRun('app:v1');
      await clock.advance(5_000);
      const { status, metadata } = await get();
      assert.equal(status?.observedGeneration, metadata.generation);
      assert.equal(status?.desiredNumberScheduled, 3);
      assert.equal(status?.numberUnavailable, 0);
      assert.equal(status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
      assert.equal(requests.filter(({ verb, plural }) => verb === 'create' && plural === 'pods').length, 3);
      assert.equal(reasons().filter((reason) => reason === 'SuccessfulCreate').length, 3);
      const before = requests.length;
      await clock.advance(120_000);
      assert.deepEqual(requests.slice(before), []);
    }),
  );

  it(
    'is updated by deleting pods within its budget',
    withFleet(async (fleet) => {
      await fleet.create();
      const before = await fleet.allRun('app:v1');
      const most = await mostDown(
        fleet,
        () => fleet.setImage('app:v2'),
        async () => {
          const after = await fleet.allRun('app:v2');
          assert.equal(
            uidsOf(before).some((uid) => uidsOf(after).includes(uid)),
            false,
          );
        },
      );
      assert.equal(most, 1);
      const { status } = await fleet.get();
      const revision = status?.updateRevision;
      assert.equal((await fleet.pods())[0]?.metadata?.labels?.['controller-revision-hash'], revision);
      await fleet.setImage('app:v1');
      await fleet.allRun('app:v1');
      assert.notEqual((await fleet.get()).status?.updateRevision, revision);
    }),
  );

  it(
    'is updated in place, and each pod keeps its identity',
    withFleet(async (fleet) => {
      await fleet.create({
        updateStrategy: {
          type: 'RollingUpdate',
          rollingUpdate: { rollingUpdateType: 'InPlaceIfPossible', maxUnavailable: 1 },
        },
      });
      const before = await fleet.allRun('app:v1');
      const since = fleet.requests.length;
      const most = await mostDown(
        fleet,
        () => fleet.setImage('app:v2'),
        async () => assert.deepEqual(uidsOf(await fleet.allRun('app:v2')), uidsOf(before)),
      );
      assert.equal(most, 1);
      const writes = fleet.requests.slice(since).filter(({ plural }) => plural.startsWith('pods'));
      assert.deepEqual(writes.map(({ verb, plural }) => `${verb} ${plural}`).toSorted(), [
        ...Array.from({ length: 3 }, () => 'patch pods'),
        ...Array.from({ length: 6 }, () => 'patch pods/status'),
      ]);
    }),
  );

  it(
    'calls the hook before each pod is deleted',
    withFleet(async (fleet) => {
      const { client, create, allRun, setImage, until } = fleet;
      const hooked = { metadata: { labels: { app: 'app', hold: 'yes' } } };
      await create({ lifecycle: { preDelete: { labelsHandler: { hold: 'yes' }, markPodNotReady: true } } }, {}, hooked);
      await allRun('app:v1');
      await setImage('app:v2');
      for (let turn = 0; turn < 3; turn += 1) {
        const preparing = await until('one pod is prepared', async () => {
          const asked = (await fleet.pods()).filter(
            ({ metadata }) =>
              metadata?.labels?.['lifecycle.apps.kruise.io/state'] === 'PreparingDelete' &&
              metadata.labels['hold'] === 'yes',
          );
          assert.ok(asked.length <= 1);
          return asked[0];
        });
        await fleet.clock.advance(3_000);
        const name = preparing.metadata?.name ?? '';
        const still = await client.get(podResource, { namespace: NAMESPACE, name });
        assert.equal(still.metadata?.deletionTimestamp, undefined);
        assert.equal(still.status?.conditions?.find(({ type }) => type === 'KruisePodReady')?.status, 'False');
        await fleet.patchPod(name, { labels: { hold: null } });
      }
      await allRun('app:v2');
    }),
  );

  it(
    'returns a prepared pod to service when the template is reverted',
    withFleet(async ({ create, allRun, setImage, until, pods }) => {
      const hooked = { metadata: { labels: { app: 'app', hold: 'yes' } } };
      await create({ lifecycle: { preDelete: { labelsHandler: { hold: 'yes' }, markPodNotReady: true } } }, {}, hooked);
      const before = await allRun('app:v1');
      await setImage('app:v2');
      const states = async () =>
        (await pods()).map(({ metadata }) => metadata?.labels?.['lifecycle.apps.kruise.io/state']);
      await until('a pod is prepared', async () => (await states()).includes('PreparingDelete'));
      await setImage('app:v1');
      await until('the pod is back in service', async () => !(await states()).includes('PreparingDelete'));
      assert.deepEqual(uidsOf(await allRun('app:v1')), uidsOf(before));
    }),
  );

  it(
    'returns a prepared pod to service when its node is eligible again',
    withFleet(async ({ client, create, allRun, until, pods, clock }) => {
      const hooked = {
        metadata: { labels: { app: 'app', hold: 'yes' } },
        spec: { nodeSelector: { fleet: 'a' }, containers: [{ name: 'app', image: 'app:v1' }] },
      };
      const label = (name: string, fleet: string) =>
        client.patch(nodes, { name }, { metadata: { labels: { fleet } } }, { type: 'merge' });
      for (const name of ['node-1', 'node-2', 'node-3']) await label(name, 'a');
      await create({ lifecycle: { preDelete: { labelsHandler: { hold: 'yes' }, markPodNotReady: true } } }, {}, hooked);
      const before = await allRun('app:v1');
      await label('node-1', 'b');
      const states = async () =>
        (await pods()).map(({ metadata }) => metadata?.labels?.['lifecycle.apps.kruise.io/state']);
      await until('a pod is prepared', async () => (await states()).includes('PreparingDelete'));
      await clock.advance(2_000);
      await label('node-1', 'a');
      const since = clock.now();
      await until('the pod is back in service', async () => !(await states()).includes('PreparingDelete'));
      assert.ok(clock.now() - since < 1_000, 'at once');
      assert.deepEqual(uidsOf(await allRun('app:v1')), uidsOf(before));
    }),
  );

  it(
    'continues without the hook when a timeout is set while a pod waits',
    withFleet(async ({ create, allRun, setImage, until, pods, patch, reasons, clock }) => {
      const hooked = { metadata: { labels: { app: 'app', hold: 'yes' } } };
      await create({ lifecycle: { preDelete: { labelsHandler: { hold: 'yes' } } } }, {}, hooked);
      await allRun('app:v1');
      await setImage('app:v2');
      await until('a pod is prepared', async () =>
        (await pods()).some(
          ({ metadata }) => metadata?.labels?.['lifecycle.apps.kruise.io/state'] === 'PreparingDelete',
        ),
      );
      await clock.advance(5_000);
      await patch({ metadata: { annotations: { 'edgeset.io/predelete-timeout-seconds': '1' } } });
      await allRun('app:v2');
      assert.equal(reasons().filter((reason) => reason === 'PreDeleteTimeout').length, 3);
    }),
  );

  it(
    'removes pods from nodes that stop being eligible one by one, and creates them on new ones',
    withFleet(async ({ client, create, allRun, clock, pods, until, get }) => {
      await create(
        {},
        {},
        {
          spec: { nodeSelector: { fleet: 'a' }, containers: [{ name: 'app', image: 'app:v1' }] },
        },
      );
      await until('the generation is observed', async () => (await get()).status?.observedGeneration === 1);
      await clock.advance(2_000);
      assert.equal((await pods()).length, 0);
      const label = (name: string, fleet: string | null) =>
        client.patch(nodes, { name }, { metadata: { labels: { fleet } } }, { type: 'merge' });
      for (const name of ['node-1', 'node-2', 'node-3']) await label(name, 'a');
      await allRun('app:v1');
      for (const name of ['node-1', 'node-2']) await label(name, null);
      let most = 0;
      await until('two pods are gone', async () => {
        const all = await pods();
        most = Math.max(most, all.filter(({ metadata }) => metadata?.deletionTimestamp).length);
        return all.length === 1;
      });
      assert.equal(most, 1);
      await until('the status is updated', async () => {
        const { status } = await get();
        return status?.desiredNumberScheduled === 1 && status.numberMisscheduled === 0;
      });
    }),
  );

  it(
    'replaces a pod that was deleted by hand, and a failed one with back-off',
    withFleet(async ({ client, create, allRun, pods, until, reasons }) => {
      await create();
      const before = await allRun('app:v1');
      const first = before.get('node-1')?.metadata?.name ?? '';
      await client.delete(podResource, { namespace: NAMESPACE, name: first });
      await until('the pod is gone', async () => {
        const now = (await pods()).find(({ spec }) => spec?.nodeName === 'node-1');
        return now !== undefined && now.metadata?.uid !== before.get('node-1')?.metadata?.uid;
      });
      const after = await allRun('app:v1');
      const second = after.get('node-2')?.metadata?.name ?? '';
      await client.patch(
        podResource,
        { namespace: NAMESPACE, name: second },
        { status: { phase: 'Failed' } },
        { type: 'merge', subresource: 'status' },
      );
      await until('the pod is replaced', async () => {
        const now = (await pods()).find(({ spec }) => spec?.nodeName === 'node-2');
        return now !== undefined && now.metadata?.uid !== after.get('node-2')?.metadata?.uid;
      });
      assert.ok(reasons().includes('FailedDaemonPod'));
    }),
  );

  it(
    'reports why a template is invalid, and creates no pod',
    withFleet(async ({ create, until, get, pods, patch, allRun, requests, clock }) => {
      await create({}, {}, { spec: { containers: [{ name: 'app', image: 'app:v1', imagePullPolicy: 'Sometimes' }] } });
      const stalled = await until('condition Stalled is True', async () =>
        (await get()).status?.conditions?.find(({ type, status }) => type === 'Stalled' && status === 'True'),
      );
      assert.equal(stalled.reason, 'InvalidTemplate');
      assert.match(stalled.message, /imagePullPolicy/);
      assert.equal((await pods()).length, 0);
      await clock.advance(3_000);
      const before = requests.length;
      await clock.advance(60_000);
      assert.deepEqual(requests.slice(before), []);
      await patch({ spec: { template: { spec: { containers: [{ name: 'app', image: 'app:v2' }] } } } });
      await allRun('app:v2');
    }),
  );

  it(
    'continues under a new leader where the previous one stopped',
    withFleet(async ({ create, allRun, setImage, restart, clock, pods }) => {
      await create();
      await allRun('app:v1');
      await setImage('app:v2');
      await clock.advance(600);
      await restart();
      await allRun('app:v2');
      assert.equal((await pods()).length, 3);
    }),
  );

  it(
    'loses no pod to a cache that still shows one that is gone beside it',
    withFleet(async ({ create, allRun, client, faults, count, clock, pods, requests }) => {
      await create();
      const [[node, kept] = []] = await allRun('app:v1');
      assert.ok(node !== undefined && kept?.metadata);
      const { name = '', labels, ownerReferences } = kept.metadata;
      const error = new KubeError('NotFound', 'not found', { status: 404 });
      faults.push({ verb: 'get', plural: 'pods', name, error, left: 1_000 });
      const before = requests.length;
      await client.create(podResource, {
        metadata: {
          namespace: NAMESPACE,
          name: 'app-second',
          ...(labels && { labels }),
          ...(ownerReferences && { ownerReferences }),
        },
        spec: { ...kept.spec, containers: kept.spec?.containers ?? [], nodeName: node },
      });
      await clock.advance(2_000);
      assert.ok(count('get', 'pods', before) > 0, 'the other pod is looked for');
      assert.equal(count('delete', 'pods', before), 0);
      assert.ok((await pods()).some(({ metadata }) => metadata?.name === 'app-second'));
    }),
  );
});
