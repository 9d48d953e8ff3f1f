import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { pods as podResource } from '../../kube/index.ts';
import type { AdvancedDaemonSetSpec } from './api/types.ts';
import { type Fleet, NAMESPACE, withFleet } from './testing/fleet.ts';

const FINALIZER = 'example.com/hold';

const imageOf = ({ spec }: Pod): string | undefined => spec?.containers[0]?.image;
const podsOn = async (fleet: Fleet, node: string): Promise<Pod[]> =>
  (await fleet.pods()).filter(({ spec }) => spec?.nodeName === node);

/** All nodes run the image, in pods that nobody deletes; deleted ones may be there, held by a finalizer. */
const untilRunning = (fleet: Fleet, image: string): Promise<unknown> =>
  fleet.until(`all nodes run ${image}`, async () => {
    const { status } = await fleet.get();
    const live = (await fleet.pods()).filter(({ metadata }) => !metadata?.deletionTimestamp);
    return live.length === 3 && live.every((pod) => imageOf(pod) === image) && status?.numberAvailable === 3;
  });

/** Deletes the pod of node-1, whose object a finalizer holds; resolves with its name. */
const deleteHeld = async (fleet: Fleet, metadata: object = {}): Promise<string> => {
  const [pod] = await podsOn(fleet, 'node-1');
  const { name = '' } = pod?.metadata ?? {};
  await fleet.patchPod(name, { finalizers: [FINALIZER], ...metadata });
  await fleet.client.delete(podResource, { namespace: NAMESPACE, name });
  return name;
};

const strategies: [string, Partial<AdvancedDaemonSetSpec>][] = [
  ['recreates pods', {}],
  ['updates pods in place', { updateStrategy: { rollingUpdate: { rollingUpdateType: 'InPlaceIfPossible' } } }],
  ['surges', { updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } }],
];

describe('a pod that is deleted and held by a finalizer', () => {
  for (const [what, spec] of strategies) {
    it(
      `is replaced at once when its containers have ended, and holds up no rollout of a DaemonSet that ${what}`,
      withFleet(async (fleet) => {
        await fleet.create(spec);
        await fleet.allRun('app:v1');
        const held = await deleteHeld(fleet);
        await untilRunning(fleet, 'app:v1');
        assert.equal((await podsOn(fleet, 'node-1')).length, 2);
        const created = fleet.count('create', 'pods');
        await fleet.clock.advance(30_000);
        assert.equal(fleet.count('create', 'pods'), created, 'one pod replaces it');
        await fleet.setImage('app:v2');
        await untilRunning(fleet, 'app:v2');
        await fleet.until('the rollout is complete', async () =>
          (await fleet.rollout()).status?.conditions?.some(
            ({ type, status }) => type === 'Complete' && status === 'True',
          ),
        );
        const pod = await fleet.client.get(podResource, { namespace: NAMESPACE, name: held });
        assert.equal(pod.status?.phase, 'Succeeded');
        await fleet.patchPod(held, { finalizers: null });
        await fleet.allRun('app:v2');
      }),
    );

    it(
      `is replaced by a manager that starts then, if the DaemonSet ${what}`,
      withFleet(async (fleet) => {
        await fleet.create(spec);
        await fleet.allRun('app:v1');
        await fleet.stop();
        await deleteHeld(fleet);
        await fleet.clock.advance(5_000);
        await fleet.restart();
        await untilRunning(fleet, 'app:v1');
        assert.equal((await podsOn(fleet, 'node-1')).length, 2);
      }),
    );
  }

  it(
    'is waited for while its containers may still run',
    withFleet(async (fleet) => {
      await fleet.create();
      await fleet.allRun('app:v1');
      const annotations = { 'sim.edgeset.io/behaviour': 'stuck-terminating' };
      const held = await deleteHeld(fleet, { annotations });
      await fleet.clock.advance(30_000);
      assert.equal((await podsOn(fleet, 'node-1')).length, 1);
      await fleet.patchPod(held, { annotations: { 'sim.edgeset.io/behaviour': null } });
      await untilRunning(fleet, 'app:v1');
    }),
  );

  it(
    'is replaced within the rollout that deleted it, for each node',
    withFleet(async (fleet) => {
      await fleet.create({}, {}, { metadata: { labels: { app: 'app' }, finalizers: [FINALIZER] } });
      await fleet.allRun('app:v1');
      await fleet.setImage('app:v2');
      await untilRunning(fleet, 'app:v2');
      assert.equal((await fleet.pods()).length, 6);
    }),
  );

  it(
    'does not stand in for a pod that has ended, which is still deleted with its back-off',
    withFleet(async (fleet) => {
      await fleet.create();
      await fleet.allRun('app:v1');
      const [pod] = await podsOn(fleet, 'node-1');
      const { name = '' } = pod?.metadata ?? {};
      await fleet.patchPod(name, { finalizers: [FINALIZER] });
      await fleet.client.patch(
        podResource,
        { namespace: NAMESPACE, name },
        { status: { phase: 'Failed' } },
        { type: 'merge', subresource: 'status' },
      );
      await fleet.until('another pod is there', async () => (await podsOn(fleet, 'node-1')).length === 2);
      await untilRunning(fleet, 'app:v1');
      assert.ok(fleet.reasons().includes('FailedDaemonPod'));
      assert.equal(fleet.count('delete', 'pods'), 1);
    }),
  );

  it(
    'of a surge makes room for the next new pod',
    withFleet(async (fleet) => {
      await fleet.create({ updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } });
      await fleet.allRun('app:v1');
      const isNew = (pod: Pod): boolean => imageOf(pod) === 'app:v2--never-ready';
      await fleet.setImage('app:v2--never-ready');
      const first = await fleet.until('a new pod', async () => (await fleet.pods()).find(isNew));
      const { name = '' } = first.metadata ?? {};
      await fleet.patchPod(name, { finalizers: [FINALIZER] });
      await fleet.client.delete(podResource, { namespace: NAMESPACE, name });
      const next = await fleet.until('another new pod', async () =>
        (await fleet.pods()).find((pod) => isNew(pod) && !pod.metadata?.deletionTimestamp),
      );
      assert.notEqual(next.metadata?.name, name);
    }),
  );
});
