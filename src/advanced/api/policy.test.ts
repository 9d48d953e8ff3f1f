import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pods as podResource } from '../../kube/index.ts';
import { isPreparing } from '../../rollout/index.ts';
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

/** Pods that were created and deleted since the requests were so many. */
const writes = ({ requests }: Fleet, since: number) => {
  const count = (verb: string): number =>
    requests.slice(since).filter((request) => request.verb === verb && request.plural === 'pods').length;
  return { create: count('create'), delete: count('delete') };
};

const old = { 'node-1': 'app:v1', 'node-2': 'app:v1', 'node-3': 'app:v1' };

describe('an Advanced DaemonSet is updated', () => {
  it(
    'as far as its partition allows, when it is lowered step by step',
    withFleet(async (fleet) => {
      const partition = (value: number | string) => ({ updateStrategy: { rollingUpdate: { partition: value } } });
      await fleet.create(partition(2));
      await fleet.allRun('app:v1');
      await fleet.setImage('app:v2');
      await untilImages(fleet, { ...old, 'node-3': 'app:v2' });
      await fleet.clock.advance(5_000);
      assert.deepEqual(await images(fleet), { ...old, 'node-3': 'app:v2' });
      await fleet.patch({ spec: partition('34%') });
      await untilImages(fleet, { ...old, 'node-2': 'app:v2', 'node-3': 'app:v2' });
      await fleet.patch({ spec: partition(0) });
      await fleet.allRun('app:v2');
    }),
  );

  it(
    'not while it is paused, but missing pods are created',
    withFleet(async (fleet) => {
      await fleet.create({ updateStrategy: { rollingUpdate: { paused: true } } });
      await fleet.allRun('app:v1');
      await fleet.setImage('app:v2');
      await fleet.clock.advance(5_000);
      assert.deepEqual(await images(fleet), old);
      await remove(fleet, 'node-1');
      await untilImages(fleet, { ...old, 'node-1': 'app:v2' });
      await fleet.patch({ spec: { updateStrategy: { rollingUpdate: { paused: false } } } });
      await fleet.allRun('app:v2');
    }),
  );

  it(
    'when pods are deleted by hand, with OnDelete',
    withFleet(async (fleet) => {
      await fleet.create({ updateStrategy: { type: 'OnDelete' } });
      await fleet.allRun('app:v1');
      await fleet.setImage('app:v2');
      await fleet.clock.advance(5_000);
      assert.deepEqual(await images(fleet), old);
      await remove(fleet, 'node-2');
      await untilImages(fleet, { ...old, 'node-2': 'app:v2' });
    }),
  );

  it(
    'when the owners of its nodes delete pods, after a condition announces the update',
    withFleet(async (fleet) => {
      await fleet.create({}, { 'apps.openyurt.io/update-strategy': 'ota' });
      await fleet.allRun('app:v1');
      await fleet.setImage('app:v2');
      await fleet.until('owners are told', async () =>
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
    'back to the last version that worked, with on-failure rollback',
    withFleet(async (fleet) => {
      await fleet.create(
        {},
        {
          'edgeset.io/on-failure': 'rollback',
          'edgeset.io/failure-threshold': '1',
          'edgeset.io/progress-deadline-seconds': '10',
        },
      );
      await fleet.allRun('app:v1');
      await fleet.clock.advance(5_000);
      await fleet.setImage('app:v2--never-ready');
      await fleet.until('it is put back', async () => {
        const { metadata, spec } = await fleet.get();
        return (
          metadata.annotations?.['edgeset.io/rolled-back-from'] !== undefined &&
          spec.template.spec?.containers[0]?.image === 'app:v1'
        );
      });
      await fleet.allRun('app:v1');
    }),
  );

  it(
    'with a surge next to old pods that wait for their hook, each of which is prepared once',
    withFleet(async (fleet) => {
      const lifecycle = { preDelete: { labelsHandler: { hold: 'yes' }, markPodNotReady: true } };
      const metadata = { labels: { app: 'app', hold: 'yes' } };
      await fleet.create({ updateStrategy: { rollingUpdate: { maxSurge: 3 } }, lifecycle }, {}, { metadata });
      await fleet.allRun('app:v1');
      const before = fleet.requests.length;
      await fleet.setImage('app:v2');
      const prepared = await fleet.until('all old pods are prepared', async () => {
        const found = (await fleet.pods()).filter((pod) => isPreparing(pod));
        return found.length === 3 && found;
      });
      await fleet.clock.advance(30_000);
      for (const pod of prepared) {
        const name = pod.metadata?.name ?? '';
        const asked = fleet.requests
          .slice(before)
          .filter((request) => request.verb === 'patch' && request.name === name);
        // The claim before the new pod is made, the gate, and the label.
        assert.ok(asked.length <= 3, `${asked.length} writes to ${name}`);
        const body = { metadata: { labels: { hold: null } } };
        await fleet.client.patch(podResource, { namespace: NAMESPACE, name }, body, { type: 'merge' });
      }
      await fleet.allRun('app:v2');
    }),
  );

  it(
    'with a surge: every node always has a pod, and none has three',
    withFleet(async (fleet) => {
      await fleet.create({ updateStrategy: { rollingUpdate: { maxSurge: 1 } } });
      await fleet.allRun('app:v1');
      const before = fleet.requests.length;
      await fleet.setImage('app:v2');
      let [least, most, double] = [3, 0, 0];
      await fleet.until('all run v2 alone', async () => {
        const all = await fleet.pods();
        const ready = all.filter(
          ({ metadata, status }) =>
            !metadata?.deletionTimestamp &&
            status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
        );
        const live = all.filter(({ metadata }) => !metadata?.deletionTimestamp);
        least = Math.min(least, new Set(ready.map(({ spec }) => spec?.nodeName)).size);
        most = Math.max(most, live.length);
        double = Math.max(double, all.length);
        return (
          all.length === 3 && ready.length === 3 && ready.every(({ spec }) => spec?.containers[0]?.image === 'app:v2')
        );
      });
      assert.deepEqual([least, most], [3, 4]);
      assert.ok(double <= 5);
      await fleet.clock.advance(5_000);
      assert.deepEqual(writes(fleet, before), { create: 3, delete: 3 });
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

  it(
    'with the new pod of a surge that has started, when the strategy no longer surges',
    withFleet(async (fleet) => {
      await fleet.create({ updateStrategy: { rollingUpdate: { maxSurge: 1 } } });
      await fleet.allRun('app:v1');
      const before = fleet.requests.length;
      await fleet.setImage('app:v2');
      await fleet.until('a new pod is beside an old one', async () => (await fleet.pods()).length === 4);
      await fleet.patch({ spec: { updateStrategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } } });
      await fleet.allRun('app:v2');
      assert.deepEqual(writes(fleet, before), { create: 3, delete: 3 });
    }),
  );

  it(
    'not by a surge if both pods have the same host port: this is reported once, and the old pods stay',
    withFleet(async (fleet) => {
      const template = (image: string) => ({
        spec: { containers: [{ name: 'app', image, ports: [{ containerPort: 80, hostPort: 8080 }] }] },
      });
      await fleet.create({ updateStrategy: { rollingUpdate: { maxSurge: 1 } } }, {}, template('app:v1'));
      await fleet.allRun('app:v1');
      await fleet.patch({ spec: { template: template('app:v2') } });
      await fleet.until('it is told', async () => fleet.reasons().includes('FailedPlacement'));
      const event = fleet.told.find(({ reason }) => reason === 'FailedPlacement');
      assert.match(event?.note ?? '', /node-\d next to the old pod: not scheduled \(.*free ports/);
      await fleet.clock.advance(30_000);
      const live = (await fleet.pods()).filter(({ metadata }) => !metadata?.deletionTimestamp);
      assert.deepEqual(live.map(({ spec }) => spec?.containers[0]?.image ?? '').toSorted(), [
        'app:v1',
        'app:v1',
        'app:v1',
        'app:v2',
      ]);
      assert.equal(fleet.reasons().filter((reason) => reason === 'FailedPlacement').length, 1);
      await fleet.patch({ spec: { updateStrategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } } });
      await fleet.allRun('app:v2');
    }),
  );
});
