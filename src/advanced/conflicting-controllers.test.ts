import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  controllerRevisions,
  customResourceDefinitions,
  daemonSets,
  KubeError,
  leases,
  namespaces,
  nodes,
  pods as podResource,
  toMicroTime,
} from '../kube/index.ts';
import { advancedDaemonSets } from './api/types.ts';
import { type Fleet, NAMESPACE, withFleet } from './testing/fleet.ts';

const created = ({ requests }: Fleet): number =>
  requests.filter(({ verb, plural }) => verb === 'create' && plural === 'pods').length;

const stalled = async ({ get }: Fleet) =>
  (await get()).status?.conditions?.find(({ type, status }) => type === 'Stalled' && status === 'True');

const quota = () => new KubeError('Forbidden', 'exceeded quota', { status: 403 });
const lost = () => new KubeError('Timeout', 'no answer', { happened: 'unknown' });

describe('new pods', () => {
  it(
    'that are refused are retried with back-off, reported once, and created when they are allowed',
    withFleet(async (fleet) => {
      fleet.faults.push({ verb: 'create', plural: 'pods', error: quota(), left: 6 });
      await fleet.create();
      const condition = await fleet.until('it stalls', () => stalled(fleet));
      assert.equal(condition.reason, 'FailedCreate');
      assert.match(condition.message, /exceeded quota/);
      await fleet.clock.advance(7_000);
      assert.ok(created(fleet) <= 4, `${created(fleet)} tries`);
      assert.equal(fleet.reasons().filter((reason) => reason === 'FailedCreate').length, 1);
      await fleet.allRun('app:v1');
      assert.equal(await stalled(fleet), undefined);
    }),
  );

  it(
    'that are refused are retried while other events come in',
    withFleet(async (fleet) => {
      fleet.faults.push({ verb: 'create', plural: 'pods', error: quota(), left: 1, delayMs: 900 });
      await fleet.create();
      await fleet.until('a creation is under way', async () => created(fleet) === 1);
      await fleet.client.patch(
        nodes,
        { name: 'node-1' },
        { metadata: { labels: { any: 'thing' } } },
        { type: 'merge' },
      );
      await fleet.patch({ metadata: { annotations: { 'edgeset.io/settle-seconds': '1' } } });
      const since = fleet.clock.now();
      await fleet.allRun('app:v1');
      assert.ok(fleet.clock.now() - since < 5_000);
    }),
  );

  it(
    'exist once each after a lost response',
    withFleet(async (fleet) => {
      fleet.faults.push({ verb: 'create', plural: 'pods', error: lost(), happened: true, left: 2 });
      await fleet.create();
      await fleet.allRun('app:v1');
      assert.equal(fleet.reasons().includes('FailedCreate'), false);
    }),
  );

  it(
    'get another name if theirs is taken by a foreign pod',
    withFleet(async (fleet) => {
      await fleet.create();
      const before = await fleet.allRun('app:v1');
      const name = before.get('node-1')?.metadata?.name ?? '';
      // It cannot be let go at once: until then it is still said to be ours.
      fleet.faults.push({ verb: 'patch', plural: 'pods', error: quota(), left: 1 });
      const since = fleet.clock.now();
      await fleet.client.patch(
        podResource,
        { namespace: NAMESPACE, name },
        { metadata: { labels: { app: 'other' } } },
        { type: 'merge' },
      );
      const after = await fleet.until('node-1 has another', async () => {
        const pod = (await fleet.pods()).find(
          ({ spec, metadata }) => spec?.nodeName === 'node-1' && metadata?.name !== name,
        );
        return pod !== undefined && pod.metadata?.labels?.['app'] === 'app' ? pod : undefined;
      });
      assert.notEqual(after.metadata?.name, name);
      assert.ok(fleet.clock.now() - since < 5_000);
      await fleet.until('it is let go', async () => {
        const pod = await fleet.client.get(podResource, { namespace: NAMESPACE, name });
        return pod.metadata?.ownerReferences === undefined || pod.metadata.ownerReferences.length === 0;
      });
    }),
  );

  it(
    'are created one by one with progressive creation, as far as the partition allows',
    withFleet(async (fleet) => {
      await fleet.create({
        updateStrategy: { rollingUpdate: { partition: 2 } },
        scaleStrategy: { partitionedScaling: true },
      });
      await fleet.until('one is there', async () => (await fleet.get()).status?.numberAvailable === 1);
      await fleet.clock.advance(5_000);
      assert.equal((await fleet.pods()).length, 1);
      await fleet.patch({ spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
      await fleet.allRun('app:v1');
    }),
  );
});

describe('nothing is written', () => {
  it(
    "while OpenKruise's manager holds its lease",
    withFleet(async (fleet) => {
      const lease = { namespace: 'kruise-system', name: 'kruise-manager' };
      const spec = {
        holderIdentity: 'kruise-1',
        leaseDurationSeconds: 60,
        renewTime: toMicroTime(fleet.clock.now()),
      };
      await fleet.client.create(namespaces, { metadata: { name: lease.namespace } });
      await fleet.client.create(leases, { metadata: lease, spec });
      await fleet.create();
      const condition = await fleet.until('it stalls', () => stalled(fleet));
      assert.equal(condition.reason, 'OpenKruiseManager');
      const theirs = { desiredNumberScheduled: 3, updatedNumberScheduled: 2, daemonSetHash: 'theirs' };
      const call = { type: 'merge', subresource: 'status' } as const;
      await fleet.client.patch(advancedDaemonSets, { namespace: NAMESPACE, name: 'app' }, { status: theirs }, call);
      await fleet.clock.advance(20_000);
      assert.equal(created(fleet), 0);
      const { conditions: _, ...said } = (await fleet.get()).status ?? {};
      assert.deepEqual(said, theirs, 'the numbers are for OpenKruise to write');
      assert.ok(fleet.reasons().includes('OpenKruiseManager'));
      await fleet.allRun('app:v1');
    }),
  );

  it(
    'while that lease is renewed by any clock, but not because of an abandoned lease',
    withFleet(async (fleet) => {
      const lease = { namespace: 'kruise-system', name: 'kruise-manager' };
      const renewed = (agoMs: number, holderIdentity: string) => ({
        holderIdentity,
        leaseDurationSeconds: 15,
        renewTime: toMicroTime(fleet.clock.now() - agoMs),
      });
      await fleet.client.create(namespaces, { metadata: { name: lease.namespace } });
      await fleet.client.create(leases, { metadata: lease, spec: renewed(300_000, 'slow-clock') });
      await fleet.create();
      for (let look = 0; look < 10; look += 1) {
        await fleet.client.patch(leases, lease, { spec: renewed(300_000, 'slow-clock') }, { type: 'merge' });
        await fleet.clock.advance(5_000);
      }
      assert.equal(created(fleet), 0);
      await fleet.client.patch(leases, lease, { spec: renewed(3_600_000, 'long-gone') }, { type: 'merge' });
      await fleet.clock.advance(16_000);
      assert.ok(created(fleet) > 0);
    }),
  );

  it(
    'while that lease may not be read, and the missing permission is reported once',
    withFleet(async (fleet) => {
      const forbidden = new KubeError('Forbidden', 'no right to get leases', { status: 403 });
      const fault = { verb: 'get', plural: 'leases', error: forbidden, left: 10 };
      fleet.faults.push(fault);
      await fleet.create();
      const condition = await fleet.until('it stalls', () => stalled(fleet));
      assert.equal(condition.reason, 'LeaseForbidden');
      assert.match(condition.message, /no right to get leases.*grant get on it/);
      await fleet.clock.advance(20_000);
      assert.equal(created(fleet), 0);
      assert.equal(fleet.reasons().filter((reason) => reason === 'LeaseForbidden').length, 1);
      await fleet.allRun('app:v1');
    }),
  );

  it(
    'while a native DaemonSet has the same selector, also a later one without pods',
    withFleet(async (fleet) => {
      const labels = { app: 'app' };
      await fleet.create();
      await fleet.allRun('app:v1');
      await fleet.client.create(daemonSets, {
        metadata: { name: 'twin', namespace: NAMESPACE },
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: { nodeSelector: { none: 'such' }, containers: [{ name: 'app', image: 'app:v9' }] },
          },
        },
      });
      await fleet.clock.advance(16_000);
      const before = created(fleet);
      const [pod] = await fleet.pods();
      await fleet.client.delete(podResource, { namespace: NAMESPACE, name: pod?.metadata?.name ?? '' });
      const condition = await fleet.until('it stalls', () => stalled(fleet));
      assert.equal(condition.reason, 'NativeDaemonSet');
      await fleet.clock.advance(10_000);
      assert.equal(created(fleet), before);
      await fleet.client.delete(daemonSets, { namespace: NAMESPACE, name: 'twin' });
      await fleet.allRun('app:v1');
    }),
  );

  it(
    'with an empty selector from an earlier schema: no pod is created or adopted',
    withFleet(async (fleet) => {
      const crd = await fleet.client.get(customResourceDefinitions, { name: 'daemonsets.apps.kruise.io' });
      const lax = JSON.parse(
        JSON.stringify(crd, (key, value: unknown) => (key === 'x-kubernetes-validations' ? undefined : value)),
      ) as typeof crd;
      await fleet.client.replace(customResourceDefinitions, lax);
      const metadata = { name: 'foreign', namespace: NAMESPACE, labels: { any: 'thing' } };
      const spec = { nodeName: 'node-1', containers: [{ name: 'app', image: 'app:v1' }] };
      await fleet.client.create(podResource, { metadata, spec });
      await fleet.create({ selector: {} });
      const condition = await fleet.until('it stalls', () => stalled(fleet));
      assert.equal(condition.reason, 'SelectingAll');
      await fleet.clock.advance(5_000);
      assert.ok(fleet.reasons().includes('SelectingAll'));
      assert.equal((await fleet.pods()).length, 0);
    }),
  );

  it(
    'with an invalid policy: pods are kept and not updated',
    withFleet(async (fleet) => {
      await fleet.create();
      await fleet.allRun('app:v1');
      await fleet.patch({
        metadata: { annotations: { 'edgeset.io/predelete-timeout-seconds': 'soon' } },
      });
      await fleet.setImage('app:v2');
      const condition = await fleet.until('it stalls', () => stalled(fleet));
      assert.equal(condition.reason, 'InvalidPolicy');
      assert.match(condition.message, /predelete-timeout-seconds/);
      await fleet.clock.advance(10_000);
      const images = (await fleet.pods()).map(({ spec }) => spec?.containers[0]?.image);
      assert.deepEqual(images, ['app:v1', 'app:v1', 'app:v1']);
    }),
  );
});

describe('a revision', () => {
  it(
    'whose name is taken gets another one, and the collision is counted',
    withFleet(async (fleet) => {
      await fleet.create();
      await fleet.allRun('app:v1');
      const first = (await fleet.get()).status?.updateRevision ?? '';
      const stranger = await fleet.client.get(controllerRevisions, { namespace: NAMESPACE, name: `app-${first}` });
      await fleet.client.delete(controllerRevisions, { namespace: NAMESPACE, name: `app-${first}` });
      const { ownerReferences: _, uid: __, resourceVersion: ___, ...metadata } = stranger.metadata ?? {};
      await fleet.client.create(controllerRevisions, {
        ...stranger,
        apiVersion: 'apps/v1',
        kind: 'ControllerRevision',
        metadata: { ...metadata, labels: { other: 'one' } },
        data: { other: 'data' },
      });
      await fleet.setImage('app:v2');
      await fleet.allRun('app:v2');
      await fleet.setImage('app:v1');
      await fleet.allRun('app:v1');
      const { status } = await fleet.get();
      assert.equal(status?.collisionCount, 1);
      assert.notEqual(status.updateRevision, first);
    }),
  );

  it(
    'over the limit is deleted when no pod carries it',
    withFleet(async (fleet) => {
      await fleet.create({ revisionHistoryLimit: 1 });
      await fleet.allRun('app:v1');
      for (const image of ['app:v2', 'app:v3', 'app:v4']) {
        await fleet.setImage(image);
        await fleet.allRun(image);
      }
      await fleet.until('two are left', async () => {
        const { items } = await fleet.client.list(controllerRevisions, { namespace: NAMESPACE });
        return items.length === 2;
      });
    }),
  );
});
