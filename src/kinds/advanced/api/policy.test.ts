import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pods as podResource } from '../../../kube/index.ts';
import { isPreparing, needUpgradeOf } from '../../../rollout/index.ts';
import { NEED_UPGRADE, UPGRADE_APPROVED } from '../../../words/index.ts';
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

/** Number of pods that were created and deleted since request `since`. */
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
      await fleet.until('the template is restored', async () => {
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
        // The claim before the surge, the gate and the label.
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
      await fleet.until('all nodes run only v2', async () => {
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
      await fleet.until('a surge has started', async () => (await fleet.pods()).length === 4);
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
      await fleet.until('the Event is recorded', async () => fleet.reasons().includes('FailedPlacement'));
      const event = fleet.events.find(({ reason }) => reason === 'FailedPlacement');
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

const ota = { 'apps.openyurt.io/update-strategy': 'ota' };

const podOn = async (fleet: Fleet, node: string) => {
  const found = (await fleet.pods()).filter(
    ({ spec, metadata }) => spec?.nodeName === node && !metadata?.deletionTimestamp,
  );
  return found.length === 1 ? found[0] : undefined;
};

/** Waits for condition PodNeedUpgrade of the pods, by node. */
const untilAnnounced = (fleet: Fleet, ...wanted: string[]) =>
  fleet.until(`the pods announce ${wanted.join(', ')}`, async () => {
    const all = (await fleet.pods()).toSorted((a, b) => ((a.spec?.nodeName ?? '') < (b.spec?.nodeName ?? '') ? -1 : 1));
    const announced = all.map((pod) => {
      const { status = '', reason = '' } = needUpgradeOf(pod) ?? {};
      return `${status} ${reason}`.trim();
    });
    return JSON.stringify(announced) === JSON.stringify(wanted);
  });

/** Approves the announced revision as the agent does. */
const approve = async (fleet: Fleet, node: string): Promise<void> => {
  const pod = (await podOn(fleet, node)) ?? assert.fail(`${node} has no pod`);
  const message = needUpgradeOf(pod)?.message ?? '';
  const condition = { type: UPGRADE_APPROVED, status: 'True', reason: 'OwnerApproved', message };
  const { uid = '', resourceVersion = '', name = '' } = pod.metadata ?? {};
  await fleet.client.patch(
    podResource,
    { namespace: NAMESPACE, name },
    { metadata: { uid, resourceVersion }, status: { conditions: [condition] } },
    { type: 'strategic', subresource: 'status' },
  );
};

const runs = (fleet: Fleet, node: string, image: string) =>
  fleet.until(`${node} runs ${image}`, async () => {
    const pod = await podOn(fleet, node);
    const ready = pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
    return pod?.spec?.containers[0]?.image === image && ready ? pod : undefined;
  });

const [NEW, SAME] = ['True NewRevision', 'False UpToDate'];

describe('an Advanced DaemonSet whose owners decide', () => {
  for (const type of ['OnDelete', 'RollingUpdate'] as const)
    it(
      `announces the update on its pods, and replaces those whose owners approve (${type})`,
      withFleet(async (fleet) => {
        await fleet.create({ updateStrategy: { type } }, ota);
        await fleet.allRun('app:v1');
        await fleet.setImage('app:v2');
        await untilAnnounced(fleet, NEW, NEW, NEW);
        await fleet.clock.advance(10_000);
        const { status } = await fleet.rollout();
        assert.equal(status?.summary, 'Waiting for 3 owners');
        const told = status.conditions?.find((condition) => condition.type === 'Ready')?.message ?? '';
        const remedy = /remove the annotation apps\.openyurt\.io\/update-strategy(, and set .* to RollingUpdate)?\./;
        assert.equal(remedy.exec(told)?.[1] !== undefined, type === 'OnDelete', told);
        assert.match(told, remedy);
        assert.equal((await podOn(fleet, 'node-2'))?.spec?.containers[0]?.image, 'app:v1');

        const waits = {
          Ready: 'True OwnerDecides',
          Reconciling: 'False OwnerDecides',
          Stalled: 'False NothingInTheWay',
          Paused: 'False NotPaused',
        };
        const conditions = async () =>
          ((await fleet.get()).status?.conditions ?? []).map((each) => [each.type, `${each.status} ${each.reason}`]);
        assert.deepEqual(Object.fromEntries(await conditions()), waits);

        await approve(fleet, 'node-2');
        await runs(fleet, 'node-2', 'app:v2');
        await untilAnnounced(fleet, NEW, SAME, NEW);
        await approve(fleet, 'node-1');
        await approve(fleet, 'node-3');
        await fleet.allRun('app:v2');
      }),
    );

  it(
    'updates the pod in place, and asks again for the next revision, also for one that was approved before',
    withFleet(async (fleet) => {
      await fleet.create({ updateStrategy: { rollingUpdate: { rollingUpdateType: 'InPlaceIfPossible' } } }, ota);
      const before = (await fleet.allRun('app:v1')).get('node-1')?.metadata?.uid;
      await fleet.setImage('app:v2');
      await untilAnnounced(fleet, NEW, NEW, NEW);
      await approve(fleet, 'node-1');
      assert.equal((await runs(fleet, 'node-1', 'app:v2')).metadata?.uid, before);
      await untilAnnounced(fleet, SAME, NEW, NEW);
      await fleet.setImage('app:v1');
      await untilAnnounced(fleet, NEW, SAME, SAME);
      await fleet.setImage('app:v2');
      await untilAnnounced(fleet, SAME, NEW, NEW);
      await fleet.setImage('app:v1');
      await untilAnnounced(fleet, NEW, SAME, SAME);
      await fleet.clock.advance(10_000);
      assert.equal((await podOn(fleet, 'node-1'))?.spec?.containers[0]?.image, 'app:v2');
    }),
  );

  it(
    'applies the preDelete hook to approved updates',
    withFleet(async (fleet) => {
      const hook = { 'example.io/hold': 'true' };
      await fleet.create({ lifecycle: { preDelete: { labelsHandler: hook } } }, ota, {
        metadata: { labels: { app: 'app', ...hook } },
      });
      const first = (await fleet.allRun('app:v1')).get('node-1');
      await fleet.patch({ spec: { template: { spec: { containers: [{ name: 'app', image: 'app:v2' }] } } } });
      await untilAnnounced(fleet, NEW, NEW, NEW);
      await approve(fleet, 'node-1');
      await fleet.until('the hook is called', async () => {
        const { metadata } = (await podOn(fleet, 'node-1')) ?? {};
        return metadata?.labels?.['lifecycle.apps.kruise.io/state'] === 'PreparingDelete';
      });
      await fleet.clock.advance(20_000);
      assert.equal((await podOn(fleet, 'node-1'))?.metadata?.uid, first?.metadata?.uid, 'the hook still holds the pod');
      const { name = '' } = first?.metadata ?? {};
      const labels = { 'example.io/hold': null };
      await fleet.patchPod(name, { labels });
      await runs(fleet, 'node-1', 'app:v2');
    }),
  );

  it(
    'withdraws announcements and approvals when it opts out, and ignores them',
    withFleet(async (fleet) => {
      await fleet.create({ updateStrategy: { type: 'OnDelete' } }, { ...ota, 'edgeset.io/settle-seconds': '600' });
      await fleet.allRun('app:v1');
      await fleet.setImage('app:v2');
      await untilAnnounced(fleet, NEW, NEW, NEW);
      await approve(fleet, 'node-3');
      await fleet.clock.advance(5_000);
      await fleet.patch({ metadata: { annotations: { 'apps.openyurt.io/update-strategy': null } } });
      await fleet.until('the conditions are removed', async () =>
        (await fleet.pods()).every(
          ({ status }) => !status?.conditions?.some(({ type }) => type === NEED_UPGRADE || type === UPGRADE_APPROVED),
        ),
      );
      await fleet.patch({ metadata: { annotations: ota } });
      await untilAnnounced(fleet, NEW, NEW, NEW);
      await fleet.clock.advance(700_000);
      assert.equal((await podOn(fleet, 'node-3'))?.spec?.containers[0]?.image, 'app:v1');
    }),
  );
});
