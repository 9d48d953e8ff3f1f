import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pods as podResource } from '../../../kube/index.ts';
import { type Fleet, NAMESPACE, withFleet } from '../testing/fleet.ts';

/** Images by node. */
const images = async (fleet: Fleet): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await fleet.pods())
      .map(({ spec }) => [spec?.nodeName ?? '', spec?.containers[0]?.image ?? ''] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

const remove = async (fleet: Fleet, node: string): Promise<void> => {
  const name = (await fleet.pods()).find(({ spec }) => spec?.nodeName === node)?.metadata?.name ?? '';
  await fleet.client.delete(podResource, { namespace: NAMESPACE, name });
};

const untilImages = (fleet: Fleet, wanted: Record<string, string>) =>
  fleet.until(`it is ${JSON.stringify(wanted)}`, async () => {
    const { status } = await fleet.get();
    return status?.numberAvailable === 3 && JSON.stringify(await images(fleet)) === JSON.stringify(wanted);
  });

const old = { 'node-1': 'app:v1', 'node-2': 'app:v1', 'node-3': 'app:v1' };

describe('an Advanced DaemonSet is updated', () => {
  it(
    'when the owners of its nodes delete pods, after a condition announces the update',
    withFleet(async (fleet) => {
      await fleet.create({}, { 'apps.openyurt.io/update-strategy': 'ota' });
      await fleet.allRun('app:v1');
      await fleet.setImage('app:v2');
      await fleet.until('the update is announced', async () =>
        (await fleet.pods()).every(({ status }) =>
          status?.conditions?.some(({ type, status: is }) => type === 'PodNeedUpgrade' && is === 'True'),
        ),
      );
      await fleet.clock.advance(5_000);
      assert.deepEqual(await images(fleet), old);
      await remove(fleet, 'node-2');
      await untilImages(fleet, { ...old, 'node-2': 'app:v2' });
    }),
  );

  it(
    'with a surge next to a terminating pod, also when somebody deletes one by hand',
    withFleet(async (fleet) => {
      await fleet.create({ updateStrategy: { rollingUpdate: { maxSurge: 1 } } });
      await fleet.allRun('app:v1');
      await remove(fleet, 'node-1');
      const { clock } = fleet;
      const until = clock.now() + 200;
      let beside = 0;
      for (; clock.now() < until; await clock.advance(20)) {
        const here = (await fleet.pods()).filter(({ spec }) => spec?.nodeName === 'node-1');
        beside = Math.max(beside, here.length);
      }
      assert.equal(beside, 2);
      await fleet.allRun('app:v1');
    }),
  );
});
