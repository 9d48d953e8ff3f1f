import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  customResourceDefinitions,
  daemonSets,
  KubeError,
  leases,
  namespaces,
  pods as podResource,
  toMicroTime,
} from '../../kube/index.ts';
import { advancedDaemonSets } from './api/types.ts';
import { NAMESPACE, withFleet } from './testing/fleet.ts';

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
      const condition = await fleet.until('condition Stalled is True', fleet.stalled);
      assert.equal(condition.reason, 'OpenKruiseManager');
      const theirs = { desiredNumberScheduled: 3, updatedNumberScheduled: 2, daemonSetHash: 'theirs' };
      const call = { type: 'merge', subresource: 'status' } as const;
      await fleet.client.patch(advancedDaemonSets, { namespace: NAMESPACE, name: 'app' }, { status: theirs }, call);
      await fleet.clock.advance(20_000);
      assert.equal(fleet.count('create', 'pods'), 0);
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
      assert.equal(fleet.count('create', 'pods'), 0);
      await fleet.client.patch(leases, lease, { spec: renewed(3_600_000, 'long-gone') }, { type: 'merge' });
      await fleet.clock.advance(16_000);
      assert.ok(fleet.count('create', 'pods') > 0);
    }),
  );

  it(
    'while that lease is held and does not say when it was renewed',
    withFleet(async (fleet) => {
      const lease = { namespace: 'kruise-system', name: 'kruise-manager' };
      const spec = { holderIdentity: 'x', leaseDurationSeconds: 15 };
      await fleet.client.create(namespaces, { metadata: { name: lease.namespace } });
      await fleet.client.create(leases, { metadata: lease, spec });
      await fleet.create();
      const condition = await fleet.until('condition Stalled is True', fleet.stalled);
      assert.equal(condition.reason, 'OpenKruiseManager');
      await fleet.allRun('app:v1');
    }),
  );

  it(
    'while that lease may not be read, and the missing permission is reported once',
    withFleet(async (fleet) => {
      const forbidden = new KubeError('Forbidden', 'no right to get leases', { status: 403 });
      const fault = { verb: 'get', plural: 'leases', error: forbidden, left: 10 };
      fleet.faults.push(fault);
      await fleet.create();
      const condition = await fleet.until('condition Stalled is True', fleet.stalled);
      assert.equal(condition.reason, 'LeaseForbidden');
      assert.match(condition.message, /no right to get leases.*grant get on it/);
      await fleet.clock.advance(20_000);
      assert.equal(fleet.count('create', 'pods'), 0);
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
      const before = fleet.count('create', 'pods');
      const [pod] = await fleet.pods();
      await fleet.client.delete(podResource, { namespace: NAMESPACE, name: pod?.metadata?.name ?? '' });
      const condition = await fleet.until('condition Stalled is True', fleet.stalled);
      assert.equal(condition.reason, 'NativeDaemonSet');
      await fleet.clock.advance(10_000);
      assert.equal(fleet.count('create', 'pods'), before);
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
      const condition = await fleet.until('condition Stalled is True', fleet.stalled);
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
      const condition = await fleet.until('condition Stalled is True', fleet.stalled);
      assert.equal(condition.reason, 'InvalidPolicy');
      assert.match(condition.message, /predelete-timeout-seconds/);
      await fleet.clock.advance(10_000);
      const images = (await fleet.pods()).map(({ spec }) => spec?.containers[0]?.image);
      assert.deepEqual(images, ['app:v1', 'app:v1', 'app:v1']);
    }),
  );
});
