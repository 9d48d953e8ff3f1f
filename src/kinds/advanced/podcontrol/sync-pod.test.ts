import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { KubeError, pods as podResource } from '../../../kube/index.ts';
import { isPreparing } from '../../../rollout/index.ts';
import { type Fleet, NAMESPACE, withFleet } from '../testing/fleet.ts';

const GRACE_SECONDS = 5;
const inPlace = { updateStrategy: { rollingUpdate: { rollingUpdateType: 'InPlaceIfPossible' } } } as const;

const isClosed = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'InPlaceUpdateReady' && is === 'False') ?? false;

/** Starts an in-place update whose first pod is out of service and waits for its grace period. */
const untilClosed = async (fleet: Fleet): Promise<void> => {
  const grace = { 'apps.kruise.io/inplace-update-grace': String(GRACE_SECONDS) };
  await fleet.create(inPlace, grace);
  await fleet.allRun('app:v1');
  await fleet.setImage('app:v2');
  await fleet.until('a pod is out of service', async () => (await fleet.pods()).some(isClosed));
};

/** Records the reasons for which the gate of each pod was opened and closed, in order. */
const followGates = ({ cluster }: Fleet): ReadonlyMap<string, readonly string[]> => {
  const reasons = new Map<string, string[]>();
  cluster.apiServer.subscribe(({ resource, object }) => {
    if (resource.plural !== 'pods') return;
    const { metadata, status } = object as unknown as Pod;
    const seen = reasons.get(metadata?.uid ?? '') ?? [];
    const reason = status?.conditions?.find(({ type }) => type === 'InPlaceUpdateReady')?.reason;
    if (reason !== undefined && seen.at(-1) !== reason) seen.push(reason);
    reasons.set(metadata?.uid ?? '', seen);
  });
  return reasons;
};

/** The pods return to service unchanged, and are not written to again. */
const untilReturned = async (fleet: Fleet): Promise<void> => {
  await fleet.until('all are in service', async () => !(await fleet.pods()).some(isClosed));
  await fleet.clock.advance((GRACE_SECONDS + 5) * 1_000);
  const pods = await fleet.pods();
  assert.deepEqual(
    pods.map(({ spec }) => spec?.containers[0]?.image),
    ['app:v1', 'app:v1', 'app:v1'],
  );
  assert.equal(pods.some(isClosed), false);
};

describe('a pod that is out of service for an in-place update', () => {
  it(
    'returns to service when the rollout is paused before the update',
    withFleet(async (fleet) => {
      await untilClosed(fleet);
      await fleet.patch({ spec: { updateStrategy: { rollingUpdate: { paused: true } } } });
      await untilReturned(fleet);
      await fleet.patch({ spec: { updateStrategy: { rollingUpdate: { paused: false } } } });
      await fleet.allRun('app:v2');
    }),
  );

  it(
    'returns to service when the template is reverted',
    withFleet(async (fleet) => {
      await untilClosed(fleet);
      await fleet.setImage('app:v1');
      await untilReturned(fleet);
    }),
  );

  it(
    'returns to service when the API server refuses the new template',
    withFleet(async (fleet) => {
      await untilClosed(fleet);
      await fleet.patch({ spec: { template: { metadata: { labels: { app: 'app', 'not a label': 'x' } } } } });
      await fleet.until('condition Stalled is True', async () =>
        (await fleet.get()).status?.conditions?.some(
          ({ type, status, reason }) => type === 'Stalled' && status === 'True' && reason === 'InvalidTemplate',
        ),
      );
      await untilReturned(fleet);
    }),
  );

  it(
    'is updated by a new leader that takes over before the update',
    withFleet(async (fleet) => {
      await untilClosed(fleet);
      await fleet.restart();
      await fleet.allRun('app:v2');
      assert.equal((await fleet.pods()).some(isClosed), false);
    }),
  );

  it(
    'does not get its gate opened as a new pod by the leader that closes it',
    withFleet(async (fleet) => {
      const gates = followGates(fleet);
      const error = new KubeError('ServiceUnavailable', 'not now', { status: 503, happened: 'no' });
      fleet.faults.push({ verb: 'patch', plural: 'pods/status', error, left: 3 });
      await fleet.create(inPlace);
      await fleet.until('all pods run with unset gates', async () => {
        const pods = await fleet.pods();
        return pods.length === 3 && pods.every(({ status }) => status?.phase === 'Running');
      });
      await fleet.setImage('app:v2');
      await fleet.restart();
      await fleet.allRun('app:v2');
      for (const reasons of gates.values())
        assert.ok(
          reasons.lastIndexOf('Created') <= 0,
          `opened as a new pod after it was closed: ${reasons.join(', ')}`,
        );
    }),
  );

  it(
    'leaves its preDelete hook when it crash-loops and the template changes, and is recreated',
    withFleet(async (fleet) => {
      const lifecycle = { preDelete: { labelsHandler: { hold: 'yes' }, markPodNotReady: true } };
      const metadata = { labels: { app: 'app', hold: 'yes' } };
      await fleet.create({ ...inPlace, lifecycle }, {}, { metadata });
      await fleet.allRun('app:v1');
      await fleet.setImage('app:v2--crash-loop');
      await fleet.until('an updated pod crash-loops', async () =>
        (await fleet.pods()).some(
          ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff',
        ),
      );
      await fleet.patch({ spec: { updateStrategy: { rollingUpdate: { rollingUpdateType: 'Standard' } } } });
      await fleet.setImage('app:v3');
      const [held] = await fleet.until('the pod is prepared for deletion', async () => {
        const found = (await fleet.pods()).filter((pod) => isPreparing(pod));
        return found.length > 0 && found;
      });
      assert.ok(held && isClosed(held));
      const name = held.metadata?.name ?? '';
      const states: string[] = [];
      fleet.cluster.apiServer.subscribe(({ resource, object }) => {
        const pod = object as unknown as Pod;
        if (resource.plural !== 'pods' || pod.metadata?.name !== name) return;
        const { labels, deletionTimestamp } = pod.metadata;
        const served = pod.status?.conditions?.find(({ type }) => type === 'KruisePodReady')?.status;
        const state = deletionTimestamp
          ? `deleted, ${labels?.hold === 'yes' ? 'held' : 'released'}`
          : `${isPreparing(pod) ? 'prepared' : 'returned'}, ${served}`;
        if (states.at(-1) !== state) states.push(state);
      });
      await fleet.setImage('app:v4');
      await fleet.until('the pod is back in service', async () => states.some((state) => state.startsWith('returned')));
      await fleet.until('all pods are released and run the last version', async () => {
        const all = await fleet.pods();
        for (const pod of all.filter((each) => isPreparing(each) && each.metadata?.labels?.hold === 'yes')) {
          const ref = { namespace: NAMESPACE, name: pod.metadata?.name ?? '' };
          await fleet.client.patch(podResource, ref, { metadata: { labels: { hold: null } } }, { type: 'merge' });
        }
        return all.length === 3 && all.every(({ spec }) => spec?.containers[0]?.image === 'app:v4');
      });
      await fleet.allRun('app:v4');
      // It leaves its Services again before the hook is called again, and nothing deletes it meanwhile.
      assert.deepEqual(states, [
        'returned, False',
        'returned, True',
        'returned, False',
        'prepared, False',
        'deleted, released',
      ]);
    }),
  );

  for (const [who, restarts] of [
    ['', false],
    [' by a new leader', true],
  ] as const)
    it(
      `is not kept prepared for its deletion while the API server refuses the template${who}`,
      withFleet(async (fleet) => {
        const lifecycle = { preDelete: { labelsHandler: { hold: 'yes' }, markPodNotReady: true } };
        await fleet.create({ lifecycle }, {}, { metadata: { labels: { app: 'app', hold: 'yes' } } });
        const before = await fleet.allRun('app:v1');
        await fleet.setImage('app:v2');
        const isAnyPrepared = async (): Promise<boolean> => (await fleet.pods()).some(isPreparing);
        await fleet.until('a pod is prepared', isAnyPrepared);
        await fleet.patch({ spec: { template: { metadata: { labels: { app: 'app', 'not a label': 'x' } } } } });
        if (restarts) await fleet.restart();
        await fleet.until('no pod is prepared', async () => !(await isAnyPrepared()));
        await fleet.until('all are in service', async () =>
          (await fleet.pods()).every(
            ({ status }) => status?.conditions?.find(({ type }) => type === 'KruisePodReady')?.status === 'True',
          ),
        );
        const known = new Set(Array.from(before.values(), ({ metadata }) => metadata?.uid));
        assert.ok(
          (await fleet.pods()).every(({ metadata }) => known.has(metadata?.uid)),
          'a pod was replaced',
        );
      }),
    );
});
