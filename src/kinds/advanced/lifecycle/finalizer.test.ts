import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isKubeError, KubeError, leases, namespaces, pods as podResource, toMicroTime } from '../../../kube/index.ts';
import { controllerOf } from '../../../rollout/index.ts';
import { LIFECYCLE_STATE } from '../../../words/index.ts';
import { advancedDaemonSets } from '../api/types.ts';
import { type Fleet, NAMESPACE, withFleet } from '../testing/fleet.ts';
import { HOOK_FINALIZER } from './pre-delete.ts';

const ref = { namespace: NAMESPACE, name: 'app' };
const labels = { app: 'app', hold: 'yes' };
const hook = { lifecycle: { preDelete: { labelsHandler: { hold: 'yes' }, markPodNotReady: true } } };

const remove = ({ client }: Fleet, propagationPolicy: 'Background' | 'Foreground' | 'Orphan') =>
  client.delete(advancedDaemonSets, ref, { propagationPolicy });

const finalizersOf = async ({ get }: Fleet): Promise<readonly string[]> => (await get()).metadata.finalizers ?? [];

const isGone = async ({ get }: Fleet): Promise<boolean> => {
  try {
    await get();
    return false;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return true;
    throw error;
  }
};

const allPods = async ({ client }: Fleet) => (await client.list(podResource, { namespace: NAMESPACE })).items;

const preparing = async (fleet: Fleet) =>
  (await allPods(fleet)).filter(({ metadata }) => metadata?.labels?.[LIFECYCLE_STATE] === 'PreparingDelete');

const untilAllPrepared = (fleet: Fleet) =>
  fleet.until('all pods are prepared', async () => {
    const found = await preparing(fleet);
    return found.length === 3 && found;
  });

const untilAllGone = (fleet: Fleet) =>
  fleet.until('DaemonSet and pods are gone', async () => (await isGone(fleet)) && (await allPods(fleet)).length === 0);

const started = async (fleet: Fleet, annotations: Record<string, string> = {}): Promise<void> => {
  await fleet.create(hook, annotations, { metadata: { labels } });
  await fleet.allRun('app:v1');
  await fleet.until('the finalizer is added', async () => (await finalizersOf(fleet)).includes(HOOK_FINALIZER));
};

describe('a DaemonSet with a preDelete hook', () => {
  it(
    'has a finalizer exactly while it has the hook',
    withFleet(async (fleet) => {
      await fleet.create({}, {}, { metadata: { labels } });
      await fleet.patch({ metadata: { finalizers: ['example.com/other'] } });
      await fleet.allRun('app:v1');
      assert.deepEqual(await finalizersOf(fleet), ['example.com/other']);
      await fleet.patch({ spec: hook });
      await fleet.until('the finalizer is added', async () => (await finalizersOf(fleet)).length === 2);
      assert.deepEqual(await finalizersOf(fleet), ['example.com/other', HOOK_FINALIZER]);
      await fleet.patch({ spec: { lifecycle: { preDelete: { labelsHandler: null } } } });
      await fleet.until('the finalizer is removed', async () => (await finalizersOf(fleet)).length === 1);
      assert.deepEqual(await finalizersOf(fleet), ['example.com/other']);
    }),
  );

  it(
    'returns a pod to service with --cascade=orphan although a write of the rollout takes long',
    withFleet(async (fleet) => {
      await started(fleet);
      fleet.faults.push({ verb: 'replace', plural: 'daemonrollouts', delayMs: 300, left: 100 });
      await fleet.setImage('app:v2');
      await fleet.until('a pod is prepared', async () => (await preparing(fleet)).length === 1);
      await remove(fleet, 'Orphan');
      await fleet.until('it is deleted', () => isGone(fleet));
      for (const pod of await allPods(fleet)) {
        assert.equal(controllerOf(pod), undefined);
        assert.notEqual(pod.metadata?.labels?.[LIFECYCLE_STATE], 'PreparingDelete');
        assert.equal(pod.status?.conditions?.find(({ type }) => type === 'KruisePodReady')?.status, 'True');
      }
    }),
  );

  it(
    'is deleted although its rollout object is orphaned, which is removed, and creates no other one',
    withFleet(async (fleet) => {
      await started(fleet);
      await fleet.stop();
      await remove(fleet, 'Orphan');
      await fleet.until('the garbage collector is done', async () => (await finalizersOf(fleet)).length === 1);
      assert.deepEqual((await fleet.rollout()).metadata.ownerReferences ?? [], []);
      await fleet.restart();
      const before = fleet.requests.length;
      await fleet.until('it is deleted', () => isGone(fleet));
      await fleet.clock.advance(5_000);
      const writes = fleet.requests
        .slice(before)
        .filter(({ verb, plural }) => verb !== 'get' && plural.startsWith('daemonrollouts'));
      assert.deepEqual(
        writes.map(({ verb }) => verb),
        ['delete'],
      );
    }),
  );

  it(
    'is deleted without the hook after the timeout',
    withFleet(async (fleet) => {
      await started(fleet, { 'edgeset.io/predelete-timeout-seconds': '20' });
      await remove(fleet, 'Background');
      await untilAllPrepared(fleet);
      await fleet.clock.advance(15_000);
      assert.equal((await preparing(fleet)).length, 3);
      await untilAllGone(fleet);
    }),
  );

  it(
    'is deleted without the hook when a timeout is set while it waits',
    withFleet(async (fleet) => {
      await started(fleet);
      await remove(fleet, 'Background');
      await untilAllPrepared(fleet);
      await fleet.clock.advance(5_000);
      await fleet.patch({ metadata: { annotations: { 'edgeset.io/predelete-timeout-seconds': '1' } } });
      await untilAllGone(fleet);
    }),
  );

  it(
    'reports a finalizer that cannot be written, and retries',
    withFleet(async (fleet) => {
      const forbidden = new KubeError('Forbidden', 'no right to patch', { status: 403 });
      fleet.faults.push({ verb: 'patch', plural: 'daemonsets', error: forbidden, left: 2 });
      await started(fleet);
      assert.equal(fleet.reasons().filter((reason) => reason === 'FailedFinalizer').length, 1);
    }),
  );

  it(
    "leaves its deletion to OpenKruise's manager while that holds its lease",
    withFleet(async (fleet) => {
      await started(fleet);
      const lease = { namespace: 'kruise-system', name: 'kruise-manager' };
      const renewTime = toMicroTime(fleet.clock.now());
      await fleet.client.create(namespaces, { metadata: { name: lease.namespace } });
      await fleet.client.create(leases, {
        metadata: lease,
        spec: { holderIdentity: 'kruise-1', leaseDurationSeconds: 120, renewTime },
      });
      await fleet.clock.advance(20_000);
      await remove(fleet, 'Background');
      await fleet.clock.advance(30_000);
      assert.equal((await preparing(fleet)).length, 0);
      assert.equal(await isGone(fleet), false);
      await untilAllPrepared(fleet);
    }),
  );
});
