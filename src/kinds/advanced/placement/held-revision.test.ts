import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controllerRevisions, pods } from '../../../kube/index.ts';
import { type Fleet, NAMESPACE, withFleet } from '../testing/fleet.ts';

const imagesOf = async (fleet: Fleet): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await fleet.pods()).map(({ spec }): [string, string] => [spec?.nodeName ?? '', spec?.containers[0]?.image ?? '']),
  );
const untilImages = (fleet: Fleet, ...images: string[]) =>
  fleet.until(images.join(' '), async () => {
    const found = await imagesOf(fleet);
    return images.length === 3 && images.every((image, index) => found[`node-${index + 1}`] === image);
  });
const deleteOn = async (fleet: Fleet, ...nodes: string[]): Promise<void> => {
  for (const { metadata, spec } of await fleet.pods())
    if (nodes.includes(spec?.nodeName ?? ''))
      await fleet.client.delete(pods, { namespace: NAMESPACE, name: metadata?.name ?? '' });
};
const untilGone = (fleet: Fleet, ...nodes: string[]) =>
  fleet.until('they are gone', async () => {
    const found = await imagesOf(fleet);
    return nodes.every((node) => found[node] === undefined);
  });
const namesOf = async (fleet: Fleet): Promise<number> =>
  (await fleet.client.list(controllerRevisions, { namespace: NAMESPACE })).items.length;

/** The partition keeps node-1 and node-2 at v1; node-3 runs v2, the newest. No further revision is to be kept. */
const halfway = async (fleet: Fleet, limits: object = {}): Promise<void> => {
  await fleet.create(
    { revisionHistoryLimit: 0, updateStrategy: { rollingUpdate: { partition: 2, ...limits } } },
    { 'edgeset.io/recreate': 'held-revision' },
  );
  await fleet.allRun('app:v1');
  await fleet.until('it is complete', async () => (await fleet.rollout()).status?.lastComplete);
  await fleet.setImage('app:v2');
  await untilImages(fleet, 'app:v1', 'app:v1', 'app:v2');
};

describe('the revision that nodes are to keep', () => {
  for (const [how, limits] of [
    ['recreated', {}],
    ['updated in place', { rollingUpdateType: 'InPlaceIfPossible' }],
    ['surging', { maxSurge: 1 }],
  ] as const)
    it(
      `stays in the history while no pod runs it, whatever revisionHistoryLimit says, ${how}`,
      withFleet(async (fleet) => {
        await halfway(fleet, limits);
        await deleteOn(fleet, 'node-1', 'node-2');
        await untilImages(fleet, 'app:v1', 'app:v1', 'app:v2');
        await fleet.patch({ spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
        await fleet.allRun('app:v2');
        await fleet.until('it is no longer needed', async () => (await namesOf(fleet)) === 1);
      }),
    );

  it(
    'is created by the next leader as well',
    withFleet(async (fleet) => {
      await halfway(fleet);
      await fleet.stop();
      await deleteOn(fleet, 'node-1', 'node-2');
      await untilGone(fleet, 'node-1', 'node-2');
      await fleet.restart();
      await untilImages(fleet, 'app:v1', 'app:v1', 'app:v2');
    }),
  );

  it(
    'is created again where its pod failed, with the back-off of its own revision',
    withFleet(async (fleet) => {
      await halfway(fleet);
      const pod = (await fleet.pods()).find(({ spec }) => spec?.nodeName === 'node-1');
      await fleet.client.patch(
        pods,
        { namespace: NAMESPACE, name: pod?.metadata?.name ?? '' },
        { status: { phase: 'Failed' } },
        { type: 'merge', subresource: 'status' },
      );
      await fleet.until('another pod', async () => {
        const found = (await fleet.pods()).find(({ spec }) => spec?.nodeName === 'node-1');
        return found?.metadata?.uid !== pod?.metadata?.uid && found?.status?.phase === 'Running';
      });
      assert.deepEqual(await imagesOf(fleet), { 'node-1': 'app:v1', 'node-2': 'app:v1', 'node-3': 'app:v2' });
    }),
  );

  it(
    'is the newest once somebody has deleted the ControllerRevision',
    withFleet(async (fleet) => {
      await halfway(fleet);
      const { hash = '' } = (await fleet.rollout()).status?.lastComplete ?? {};
      await fleet.client.delete(controllerRevisions, { namespace: NAMESPACE, name: `app-${hash}` });
      await fleet.restart();
      await fleet.clock.advance(5_000);
      await deleteOn(fleet, 'node-1');
      await untilImages(fleet, 'app:v2', 'app:v1', 'app:v2');
    }),
  );
});
