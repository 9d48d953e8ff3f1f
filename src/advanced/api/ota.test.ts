import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pods } from '../../kube/index.ts';
import { NEED_UPGRADE, needUpgradeOf, UPGRADE_APPROVED } from '../../rollout/index.ts';
import { type Fleet, NAMESPACE, withFleet } from '../testing/fleet.ts';

const ota = { 'apps.openyurt.io/update-strategy': 'ota' };

const podOn = async (fleet: Fleet, node: string) => {
  const found = (await fleet.pods()).filter(
    ({ spec, metadata }) => spec?.nodeName === node && !metadata?.deletionTimestamp,
  );
  return found.length === 1 ? found[0] : undefined;
};

/** What the pods say, by node. */
const untilSaid = (fleet: Fleet, ...wanted: string[]) =>
  fleet.until(`they say ${wanted.join(', ')}`, async () => {
    const all = (await fleet.pods()).toSorted((a, b) => ((a.spec?.nodeName ?? '') < (b.spec?.nodeName ?? '') ? -1 : 1));
    const said = all.map((pod) => {
      const { status = '', reason = '' } = needUpgradeOf(pod) ?? {};
      return `${status} ${reason}`.trim();
    });
    return JSON.stringify(said) === JSON.stringify(wanted);
  });

/** As the agent does it: the condition, for the revision that the pod is told of. */
const approve = async (fleet: Fleet, node: string): Promise<void> => {
  const pod = (await podOn(fleet, node)) ?? assert.fail(`${node} has no pod`);
  const message = needUpgradeOf(pod)?.message ?? '';
  const condition = { type: UPGRADE_APPROVED, status: 'True', reason: 'OwnerApproved', message };
  const { uid = '', resourceVersion = '', name = '' } = pod.metadata ?? {};
  await fleet.client.patch(
    pods,
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
        await untilSaid(fleet, NEW, NEW, NEW);
        await fleet.clock.advance(10_000);
        const { status } = await fleet.rollout();
        assert.equal(status?.summary, 'Waiting for 3 owners');
        const told = status.conditions?.find((condition) => condition.type === 'Ready')?.message ?? '';
        const cure = /remove the annotation apps\.openyurt\.io\/update-strategy(, and set .* to RollingUpdate)?\./;
        assert.equal(cure.exec(told)?.[1] !== undefined, type === 'OnDelete', told);
        assert.match(told, cure);
        assert.equal((await podOn(fleet, 'node-2'))?.spec?.containers[0]?.image, 'app:v1');

        const waits = {
          Ready: 'False OwnerDecides',
          Reconciling: 'False OwnerDecides',
          Stalled: 'False NothingInTheWay',
        };
        const conditions = async () =>
          ((await fleet.get()).status?.conditions ?? []).map((each) => [each.type, `${each.status} ${each.reason}`]);
        assert.deepEqual(Object.fromEntries(await conditions()), waits);

        await approve(fleet, 'node-2');
        await runs(fleet, 'node-2', 'app:v2');
        await untilSaid(fleet, NEW, SAME, NEW);
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
      await untilSaid(fleet, NEW, NEW, NEW);
      await approve(fleet, 'node-1');
      assert.equal((await runs(fleet, 'node-1', 'app:v2')).metadata?.uid, before);
      await untilSaid(fleet, SAME, NEW, NEW);
      await fleet.setImage('app:v1');
      await untilSaid(fleet, NEW, SAME, SAME);
      await fleet.setImage('app:v2');
      await untilSaid(fleet, SAME, NEW, NEW);
      await fleet.setImage('app:v1');
      await untilSaid(fleet, NEW, SAME, SAME);
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
      await untilSaid(fleet, NEW, NEW, NEW);
      await approve(fleet, 'node-1');
      await fleet.until('the hook is told', async () => {
        const { metadata } = (await podOn(fleet, 'node-1')) ?? {};
        return metadata?.labels?.['lifecycle.apps.kruise.io/state'] === 'PreparingDelete';
      });
      await fleet.clock.advance(20_000);
      assert.equal(
        (await podOn(fleet, 'node-1'))?.metadata?.uid,
        first?.metadata?.uid,
        'held for as long as it is held',
      );
      const { name = '' } = first?.metadata ?? {};
      const labels = { 'example.io/hold': null };
      await fleet.client.patch(pods, { namespace: NAMESPACE, name }, { metadata: { labels } }, { type: 'merge' });
      await runs(fleet, 'node-1', 'app:v2');
    }),
  );

  it(
    'withdraws announcements and approvals when it opts out, and ignores them',
    withFleet(async (fleet) => {
      await fleet.create({ updateStrategy: { type: 'OnDelete' } }, { ...ota, 'edgeset.io/settle-seconds': '600' });
      await fleet.allRun('app:v1');
      await fleet.setImage('app:v2');
      await untilSaid(fleet, NEW, NEW, NEW);
      await approve(fleet, 'node-3');
      await fleet.clock.advance(5_000);
      await fleet.patch({ metadata: { annotations: { 'apps.openyurt.io/update-strategy': null } } });
      await fleet.until('nothing is left of it', async () =>
        (await fleet.pods()).every(
          ({ status }) => !status?.conditions?.some(({ type }) => type === NEED_UPGRADE || type === UPGRADE_APPROVED),
        ),
      );
      await fleet.patch({ metadata: { annotations: ota } });
      await untilSaid(fleet, NEW, NEW, NEW);
      await fleet.clock.advance(700_000);
      assert.equal((await podOn(fleet, 'node-3'))?.spec?.containers[0]?.image, 'app:v1');
    }),
  );
});
