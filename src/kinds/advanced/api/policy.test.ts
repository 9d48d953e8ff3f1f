import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pods as podResource } from '../../../kube/index.ts';
import { needUpgradeOf } from '../../../rollout/index.ts';
import { UPGRADE_APPROVED } from '../../../words/index.ts';
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
});
