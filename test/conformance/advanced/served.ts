import assert from 'node:assert/strict';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { controllerOf } from '../../../src/rollout/index.ts';
import { type Case, type PodView, section } from '../kit/index.ts';

/** Pods and the containers in them: whatever restarts is another one. */
const identities = (pods: readonly PodView[]): string[] =>
  pods.map(({ uid, object }) => `${uid} ${object.status?.containerStatuses?.[0]?.containerID}`).toSorted();
const uids = (pods: readonly PodView[]): string[] => pods.map(({ uid }) => uid).toSorted();

const podPath = (c: Case, name: string): string => `/api/v1/namespaces/${c.namespace}/pods/${name}`;

/** Every node runs the image, one pod each, and the DaemonSet says so. */
const untilUpdated = async (c: Case, image: string): Promise<PodView[]> => {
  await c.untilRunning(image);
  return c.until('its status says so', async () => {
    const pods = await c.pods();
    const { metadata, status } = await c.advanced();
    const { length } = c.nodes;
    return (
      pods.length === length &&
      status?.numberAvailable === length &&
      status.updatedNumberScheduled === length &&
      status.observedGeneration === metadata.generation &&
      pods
    );
  });
};

export const served = section(
  'Advanced DaemonSets',
  (rule) => {
    rule('pods are created, and replaced node by node when the template changes', async (c) => {
      await c.rolledOut();
      const before = await c.pods();
      await c.setImage('app:v2');
      const after = await untilUpdated(c, 'app:v2');
      assert.equal(
        uids(before).some((uid) => uids(after).includes(uid)),
        false,
      );
      assert.equal((await c.updates()).length, c.nodes.length);
      assert.equal((await c.podWrites('delete')).length, c.nodes.length);
      const { conditions } = (await c.advanced()).status ?? {};
      assert.equal(conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
    });

    rule('no pod has the name of an earlier one, and each says which DaemonSet it was generated for', async (c) => {
      const [failing = '', ending = '', deleted = ''] = c.nodes;
      /** The names of all pods that there were. */
      const seen = new Map<string, string>();
      const replaced = async (what: string, image: string, before: readonly PodView[]): Promise<PodView[]> => {
        const after = await c.until(what, async () => {
          const pods = await c.pods();
          const running = pods.filter((pod) => pod.ready && pod.image === image && !uids(before).includes(pod.uid));
          return running.length === c.nodes.length && pods.length === running.length && pods;
        });
        for (const { name, uid, object } of after) {
          assert.equal(seen.get(name), undefined, `${uid} on ${object.spec?.nodeName} has the name of an earlier pod`);
          seen.set(name, uid);
          assert.equal(object.metadata?.generateName, 'app-');
        }
        for (const { name } of before) await assert.rejects(c.api.get(podPath(c, name)), /not found/);
        return after;
      };
      const end = async (node: string, phase: 'Failed' | 'Succeeded'): Promise<unknown> =>
        c.api.merge(`${podPath(c, (await c.podOn(node)).name)}/status`, { status: { phase } });
      await c.rolledOut({ rollingUpdate: { maxUnavailable: '100%' } });
      const first = await replaced('pods run', 'app:v1', []);
      await end(failing, 'Failed');
      await end(ending, 'Succeeded');
      await c.api.remove(podPath(c, (await c.podOn(deleted)).name));
      const second = await replaced('all were replaced', 'app:v1', first);
      await c.setImage('app:v2');
      const third = await replaced('all are updated', 'app:v2', second);
      await c.setImage('app:v1');
      await replaced('all are back', 'app:v1', third);
    });

    rule('pods are updated in place and keep their identity', async (c) => {
      await c.rolledOut({ rollingUpdate: { rollingUpdateType: 'InPlaceIfPossible' } });
      const before = await c.pods();
      await c.setImage('app:v2');
      const after = await untilUpdated(c, 'app:v2');
      assert.deepEqual(uids(after), uids(before));
      assert.notDeepEqual(identities(after), identities(before));
      assert.equal((await c.podWrites('in-place')).length, c.nodes.length);
      const { updateRevision } = (await c.advanced()).status ?? {};
      for (const { hash } of after) assert.equal(hash, updateRevision);
    });

    rule('a surge creates new pods beside old ones, and no node is ever without a ready pod', async (c) => {
      await c.startRollout('app:v2', { rollingUpdate: { maxSurge: 1 } });
      let least = c.nodes.length;
      let most = 0;
      await c.until('all are updated', async () => {
        const pods = await c.pods();
        least = Math.min(least, new Set(pods.filter(({ ready }) => ready).map(({ node }) => node)).size);
        most = Math.max(most, pods.filter(({ terminating }) => !terminating).length);
        return (await c.running('app:v2')).length === c.nodes.length;
      });
      await untilUpdated(c, 'app:v2');
      assert.deepEqual([least, most], [c.nodes.length, c.nodes.length + 1]);
      assert.deepEqual(
        [(await c.podWrites('surge')).length, (await c.podWrites('delete-surged-out')).length],
        [c.nodes.length, c.nodes.length],
      );
    });

    rule(
      'a native DaemonSet with the same selector conflicts, and hands over its pods without a restart',
      async (c) => {
        const native = `/apis/apps/v1/namespaces/${c.namespace}/daemonsets/app`;
        await c.create(
          { updateStrategy: 'RollingUpdate', annotations: { 'apps.openyurt.io/update-strategy': null } },
          'native',
        );
        await c.untilRunning('app:v1');
        await c.create();
        const stalled = await c.until('it says what is in the way', async () => {
          const { conditions } = (await c.advanced()).status ?? {};
          const found = conditions?.find(({ type }) => type === 'Stalled');
          return found?.status === 'True' && found;
        });
        assert.equal(stalled.reason, 'NativeDaemonSet');
        assert.match(stalled.message, /delete daemonset\.apps app --cascade=orphan/);
        const before = await c.pods();
        assert.equal(before.length, c.nodes.length);
        await c.api.remove(native, { propagationPolicy: 'Orphan' });
        const after = await untilUpdated(c, 'app:v1');
        assert.deepEqual(identities(after), identities(before));
        const { uid } = (await c.advanced()).metadata;
        for (const { object } of after) assert.equal(controllerOf(object)?.uid, uid);
        const { items } = await c.api.get<{ items: object[] }>(
          `/apis/apps/v1/namespaces/${c.namespace}/controllerrevisions`,
        );
        assert.equal(items.length, 1);
      },
    );

    rule('pods of a DaemonSet that is being deleted are left alone until the garbage collector is done', async (c) => {
      const native = `/apis/apps/v1/namespaces/${c.namespace}/daemonsets/app`;
      await c.create(
        { updateStrategy: 'RollingUpdate', annotations: { 'apps.openyurt.io/update-strategy': null } },
        'native',
      );
      await c.untilRunning('app:v1');
      await c.api.merge(native, { metadata: { finalizers: ['example.com/hold'] } });
      await c.api.remove(native, { propagationPolicy: 'Background' });
      const before = await c.pods();
      // With the same selector, the native DaemonSet itself is in the way.
      const selector = {
        matchLabels: { app: 'app' },
        matchExpressions: [{ key: 'part', operator: 'NotIn', values: ['another'] }],
      };
      await c.create({ image: 'app:v2', spec: { selector } });
      await c.until('it says what it waits for', async () =>
        (await c.advanced()).status?.conditions?.some(
          ({ type, status, reason }) => type === 'Stalled' && status === 'True' && reason === 'PreviousOwner',
        ),
      );
      const { note } = await c.untilEvent('PreviousOwner');
      assert.match(note ?? '', /still belong to the native DaemonSet app, which is being deleted or gone/);
      assert.deepEqual(identities(await c.pods()), identities(before));
      await c.api.merge(native, { metadata: { finalizers: null } });
      const after = await untilUpdated(c, 'app:v2');
      const { uid } = (await c.advanced()).metadata;
      for (const { object } of after) assert.equal(controllerOf(object)?.uid, uid);
    });

    rule('a pod whose labels no longer match is released, and its node gets another one', async (c) => {
      await c.rolledOut();
      const { name, node } = await c.podOn(c.nodes[0]);
      await c.api.merge(podPath(c, name), { metadata: { labels: { app: 'other' } } });
      await c.until('it is nobody’s', async () => controllerOf(await c.api.get<Pod>(podPath(c, name))) === undefined);
      await c.until('its node has another', async () => (await c.podOn(node)).ready);
    });

    rule('a pod with a preDelete hook is deleted once its controller releases it', async (c) => {
      const lifecycle = { preDelete: { labelsHandler: { hold: 'yes' }, markPodNotReady: true } };
      await c.startRollout('app:v2', { podLabels: { hold: 'yes' }, spec: { lifecycle } });
      for (const _ of c.nodes) {
        const preparing = await c.until('a pod is prepared, and out of service', async () =>
          (await c.pods()).find(({ object, ready }) => {
            const { labels = {} } = object.metadata ?? {};
            return labels['lifecycle.apps.kruise.io/state'] === 'PreparingDelete' && labels['hold'] && !ready;
          }),
        );
        assert.equal(preparing.terminating, false);
        await c.api.merge(podPath(c, preparing.name), { metadata: { labels: { hold: null } } });
      }
      await untilUpdated(c, 'app:v2');
      assert.equal((await c.podWrites('delete')).length, c.nodes.length);
    });
  },
  { kind: 'advanced' },
);
