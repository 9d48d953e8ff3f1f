import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { controllerRevisions, daemonSets, pods as podResource } from '../../kube/index.ts';
import { controllerOf } from '../../rollout/index.ts';
import { advancedDaemonSets } from './api/types.ts';
import { type Fleet, NAMESPACE, withFleet } from './testing/fleet.ts';

const HOLD = 'example.com/hold';
const labels = { app: 'app' };
const spec = {
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:v1' }] } },
};

const createNative = async (fleet: Fleet, finalizers: string[] = []): Promise<void> => {
  await fleet.client.create(daemonSets, { metadata: { name: 'app', namespace: NAMESPACE, finalizers }, spec });
  await fleet.until('the native DaemonSet has its pods', async () => {
    const { status } = await fleet.client.get(daemonSets, { namespace: NAMESPACE, name: 'app' });
    return status?.numberAvailable === 3;
  });
};

const allPods = async (fleet: Fleet): Promise<Pod[]> =>
  (await fleet.client.list(podResource, { namespace: NAMESPACE })).items;
const uidsOf = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata?.uid ?? '').toSorted();
const revisions = async (fleet: Fleet) =>
  (await fleet.client.list(controllerRevisions, { namespace: NAMESPACE })).items;

const remove = (fleet: Fleet, propagationPolicy: 'Orphan' | 'Background' | 'Foreground' = 'Orphan') =>
  fleet.client.delete(daemonSets, { namespace: NAMESPACE, name: 'app' }, { propagationPolicy });

/** Creates the Advanced DaemonSet, and resolves once it says that the native one is in its way. */
const untilStalled = async (fleet: Fleet, message: RegExp): Promise<void> => {
  await fleet.until(`condition Stalled says ${message}`, async () =>
    message.test((await fleet.stalled())?.message ?? ''),
  );
};

/** All of `before` are the pods of the Advanced DaemonSet, and so is their revision. */
const assertKept = async (fleet: Fleet, before: readonly Pod[]): Promise<void> => {
  const after = await fleet.allRun('app:v1');
  await fleet.clock.advance(20_000);
  assert.deepEqual(uidsOf(await allPods(fleet)), uidsOf(before));
  assert.equal(after.size, 3);
  assert.equal(fleet.count('create', 'pods'), 0);
  assert.equal(fleet.count('delete', 'pods'), 0);
  assert.equal(fleet.count('create', 'controllerrevisions'), 0);
  assert.equal((await revisions(fleet)).length, 1);
};

/** Nothing was adopted, created or recorded. */
const assertUntouched = async (fleet: Fleet): Promise<void> => {
  assert.deepEqual(await fleet.pods(), []);
  assert.equal(fleet.count('create', 'pods'), 0);
  assert.equal(fleet.count('patch', 'pods'), 0);
  assert.equal(fleet.count('create', 'controllerrevisions'), 0);
  assert.equal(fleet.count('patch', 'controllerrevisions'), 0);
};

const release = async (fleet: Fleet, name = ''): Promise<unknown> =>
  fleet.client.patch(
    podResource,
    { namespace: NAMESPACE, name },
    { metadata: { ownerReferences: null } },
    { type: 'merge' },
  );

describe('pods of a native DaemonSet that is being deleted', () => {
  for (const first of ['the Advanced DaemonSet', 'the deletion'])
    it(
      `are taken over when a slow garbage collector has released all of them, if ${first} comes first`,
      withFleet(async (fleet) => {
        await createNative(fleet);
        const before = await allPods(fleet);
        fleet.cluster.controllers.garbageCollector.pace(4_000);
        if (first === 'the deletion') await remove(fleet);
        await fleet.create();
        if (first !== 'the deletion') {
          await untilStalled(fleet, /native DaemonSet app,.*--cascade=orphan/);
          await remove(fleet);
        }
        await untilStalled(fleet, /native DaemonSet app, which is being deleted,.*wait for the garbage collector/);
        await fleet.clock.advance(9_000);
        const owned = (await allPods(fleet)).filter((pod) => controllerOf(pod));
        assert.ok(owned.length > 0 && owned.length < 3, `${owned.length} are still owned`);
        await assertUntouched(fleet);
        await assertKept(fleet, before);
      }),
    );

  it(
    'are left to it while a finalizer holds it, also by a manager that starts then',
    withFleet(async (fleet) => {
      await createNative(fleet, [HOLD]);
      const before = await allPods(fleet);
      await fleet.create();
      await untilStalled(fleet, /native DaemonSet app,/);
      await remove(fleet, 'Background');
      await fleet.clock.advance(10_000);
      await release(fleet, before[0]?.metadata?.name);
      await fleet.restart();
      await untilStalled(fleet, /which is being deleted/);
      await fleet.clock.advance(10_000);
      await assertUntouched(fleet);
      assert.equal((await allPods(fleet)).length, 3);
      for (const pod of before.slice(1)) await release(fleet, pod.metadata?.name);
      for (const { metadata } of await revisions(fleet))
        await fleet.client.patch(
          controllerRevisions,
          { namespace: NAMESPACE, name: metadata?.name ?? '' },
          { metadata: { ownerReferences: null } },
          { type: 'merge' },
        );
      await fleet.clock.advance(10_000);
      await assertUntouched(fleet);
      const held = { metadata: { finalizers: null } };
      await fleet.client.patch(daemonSets, { namespace: NAMESPACE, name: 'app' }, held, { type: 'merge' });
      await assertKept(fleet, before);
    }),
  );

  it(
    'are waited for while only their owner references show it, and their revision too',
    withFleet(async (fleet) => {
      await createNative(fleet, [HOLD]);
      const before = await allPods(fleet);
      // Without it, what the DaemonSet leaves behind is neither released nor deleted.
      fleet.cluster.controllers.garbageCollector.pause();
      await remove(fleet, 'Background');
      const held = { metadata: { finalizers: null } };
      await fleet.client.patch(daemonSets, { namespace: NAMESPACE, name: 'app' }, held, { type: 'merge' });
      await fleet.create();
      await untilStalled(fleet, /matches pods that still belong to the native DaemonSet app,/);
      assert.equal((await fleet.stalled())?.reason, 'PreviousOwner');
      for (const pod of before) await release(fleet, pod.metadata?.name);
      await untilStalled(fleet, /matches ControllerRevisions that still belong to the native DaemonSet app,/);
      await assertUntouched(fleet);
      const [revision] = await revisions(fleet);
      const ref = { namespace: NAMESPACE, name: revision?.metadata?.name ?? '' };
      await fleet.client.patch(controllerRevisions, ref, { metadata: { ownerReferences: null } }, { type: 'merge' });
      await assertKept(fleet, before);
    }),
  );

  it(
    'that are deleted with it are replaced once their containers have ended, and those of an offline node keep no other waiting',
    withFleet(async (fleet) => {
      await createNative(fleet);
      const before = await allPods(fleet);
      const stuck = before.find((pod) => pod.spec?.nodeName === 'node-1');
      const annotations = { 'sim.edgeset.io/behaviour': 'stuck-terminating' };
      await fleet.patchPod(stuck?.metadata?.name, { annotations });
      await fleet.create();
      await untilStalled(fleet, /native DaemonSet app,/);
      await remove(fleet, 'Foreground');
      const others = await fleet.until('the other nodes have a pod', async () => {
        const pods = await fleet.pods();
        return pods.length === 2 && pods;
      });
      await fleet.clock.advance(10_000);
      assert.deepEqual(others.map((pod) => pod.spec?.nodeName ?? '').toSorted(), ['node-2', 'node-3']);
      await fleet.patchPod(stuck?.metadata?.name, { annotations: { 'sim.edgeset.io/behaviour': null } });
      await fleet.allRun('app:v1');
    }),
  );
});

describe('pods of other DaemonSets', () => {
  it(
    'are waited for if it is an Advanced DaemonSet of another name that is being deleted',
    withFleet(async (fleet) => {
      await fleet.create();
      const before = [...(await fleet.allRun('app:v1')).values()];
      const created = fleet.count('create', 'pods');
      fleet.cluster.controllers.garbageCollector.pace(4_000);
      const ref = { namespace: NAMESPACE, name: 'app' };
      await fleet.client.delete(advancedDaemonSets, ref, { propagationPolicy: 'Orphan' });
      const next = {
        apiVersion: 'apps.kruise.io/v1beta1',
        kind: 'DaemonSet' as const,
        metadata: { ...ref, name: 'next' },
        spec,
      };
      await fleet.client.create(advancedDaemonSets, next);
      const ofNext = () => fleet.client.get(advancedDaemonSets, { ...ref, name: 'next' });
      await fleet.until('it says what it waits for', async () => {
        const found = (await ofNext()).status?.conditions?.find(({ type }) => type === 'Stalled');
        return found?.reason === 'PreviousOwner' && /Advanced DaemonSet app,/.test(found.message);
      });
      await fleet.until('they are its own', async () => (await ofNext()).status?.updatedNumberScheduled === 3);
      await fleet.clock.advance(20_000);
      const { uid } = (await ofNext()).metadata;
      assert.deepEqual(uidsOf(await allPods(fleet)), uidsOf(before));
      for (const pod of await allPods(fleet)) assert.equal(controllerOf(pod)?.uid, uid);
      assert.equal(fleet.count('create', 'pods'), created);
    }),
  );

  it(
    'are none of its concern while that DaemonSet stays and has another selector',
    withFleet(async (fleet) => {
      const both = { app: 'app', tier: 'other' };
      await fleet.client.create(daemonSets, {
        metadata: { name: 'other', namespace: NAMESPACE },
        spec: {
          selector: { matchLabels: { tier: 'other' } },
          template: { ...spec.template, metadata: { labels: both } },
        },
      });
      await fleet.until('it has its pods', async () => (await allPods(fleet)).length === 3);
      await fleet.create();
      await fleet.allRun('app:v1');
    }),
  );
});
