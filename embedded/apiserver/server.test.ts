import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConfigMap, Pod } from 'kubernetes-types/core/v1.d.ts';
import { daemonSets, isKubeError, type KubeErrorCode, leases, namespaces, nodes, pods } from '../../src/kube/index.ts';
import type { StoredDaemonSet, StoredPod } from '../resources.ts';
import type { Change, StoredObject } from '../types.ts';
import { configMap, createTestServer, daemonSet, pod, START } from './testing/index.ts';

const configMaps = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const ref = (name: string) => ({ namespace: 'default', name });

const refuses = (act: () => unknown, code: KubeErrorCode, message: RegExp): void => {
  assert.throws(act, (error) => isKubeError(error, code) && message.test(error.message));
};

describe('the embedded API server in process', () => {
  it('sets defaults', () => {
    const { apiServer } = createTestServer();
    const made = apiServer.create<object>(daemonSets, daemonSet('web')) as StoredDaemonSet;
    assert.equal(made.metadata.generation, 1);
    assert.equal(made.metadata.creationTimestamp, '2026-01-01T00:00:00Z');
    assert.equal(made.spec?.updateStrategy?.type, 'RollingUpdate');
    assert.equal(made.spec?.revisionHistoryLimit, 10);
    assert.equal(made.spec?.template.spec?.dnsPolicy, 'ClusterFirst');
    assert.equal(made.spec?.template.spec?.containers[0]?.imagePullPolicy, 'IfNotPresent');
  });

  it('makes the same names and UIDs from the same random source', () => {
    const make = (): unknown => {
      const { apiServer } = createTestServer();
      return apiServer.create<object>(pods, { ...pod('x'), metadata: { namespace: 'default', generateName: 'x-' } });
    };
    assert.deepEqual(make(), make());
  });

  it('increments the generation for spec changes only', () => {
    const { apiServer } = createTestServer();
    apiServer.create<object>(daemonSets, daemonSet('web'));
    const generation = (): number | undefined =>
      apiServer.get<StoredDaemonSet>(daemonSets, ref('web')).metadata.generation;
    apiServer.patch(daemonSets, ref('web'), { metadata: { labels: { a: 'b' } } }, { type: 'merge' });
    assert.equal(generation(), 1);
    apiServer.patch(daemonSets, ref('web'), { status: { numberReady: 3 } }, { type: 'merge', subresource: 'status' });
    assert.equal(generation(), 1);
    apiServer.patch(daemonSets, ref('web'), { spec: { minReadySeconds: 3 } }, { type: 'merge' });
    assert.equal(generation(), 2);
  });

  it('updates the status only at /status, and the spec only elsewhere', () => {
    const { apiServer } = createTestServer();
    apiServer.create<object>(daemonSets, daemonSet('web'));
    const both = { spec: { minReadySeconds: 3 }, status: { numberReady: 3 } };
    const main = apiServer.patch<StoredDaemonSet>(daemonSets, ref('web'), both, { type: 'merge' });
    assert.deepEqual([main.spec?.minReadySeconds, main.status?.numberReady], [3, 0]);
    const sub = { spec: { minReadySeconds: 9 }, status: { numberReady: 5 } };
    const status = apiServer.patch<StoredDaemonSet>(daemonSets, ref('web'), sub, {
      type: 'merge',
      subresource: 'status',
    });
    assert.deepEqual([status.spec?.minReadySeconds, status.status?.numberReady], [3, 5]);
  });

  it('writes nothing if nothing changes', () => {
    const { apiServer } = createTestServer();
    const made = apiServer.create<object>(configMaps, configMap('c')) as StoredObject;
    const before = apiServer.resourceVersion;
    assert.equal(apiServer.update<object>(configMaps, { ...made }), made);
    apiServer.patch(configMaps, ref('c'), { data: { a: '1' } }, { type: 'merge' });
    assert.equal(apiServer.resourceVersion, before);
  });

  it('rejects an update of a stale object', () => {
    const { apiServer } = createTestServer();
    const old = apiServer.create<ConfigMap>(configMaps, configMap('c'));
    apiServer.patch(configMaps, ref('c'), { data: { a: '2' } }, { type: 'merge' });
    refuses(() => apiServer.update(configMaps, { ...old, data: { a: '3' } }), 'Conflict', /has been modified/);
    refuses(
      () => apiServer.update<object>(leases, { metadata: { namespace: 'default', name: 'l' } }),
      'NotFound',
      /leases/,
    );
  });

  it('rejects creates in missing and terminating namespaces', () => {
    const { apiServer } = createTestServer();
    const inShop = { ...configMap('c'), metadata: { namespace: 'shop', name: 'c' } };
    refuses(() => apiServer.create(configMaps, inShop), 'NotFound', /namespaces "shop" not found/);
    apiServer.create<object>(namespaces, { metadata: { name: 'shop' } });
    apiServer.create(configMaps, inShop);
    apiServer.delete(namespaces, { name: 'shop' });
    const late = { ...inShop, metadata: { namespace: 'shop', name: 'late' } };
    refuses(() => apiServer.create(configMaps, late), 'Forbidden', /because it is being terminated/);
  });

  it('deletes a bound pod gracefully, and an unbound one at once', () => {
    const { apiServer, clock } = createTestServer();
    apiServer.create<object>(pods, pod('bound', 'n1'));
    apiServer.create<object>(pods, pod('free'));
    const going = apiServer.delete<StoredPod>(pods, ref('bound'));
    assert.equal(going?.metadata.deletionGracePeriodSeconds, 30);
    assert.equal(Date.parse(String(going?.metadata.deletionTimestamp)), START + 30_000);
    clock.run(5000);
    const sooner = apiServer.delete<StoredPod>(pods, ref('bound'), { gracePeriodSeconds: 10 });
    assert.equal(Date.parse(String(sooner?.metadata.deletionTimestamp)), START + 10_000);
    assert.equal(apiServer.delete(pods, ref('bound'), { gracePeriodSeconds: 0 }), undefined);
    assert.equal(apiServer.delete(pods, ref('free')), undefined);
    assert.deepEqual(apiServer.list(pods), []);
  });

  it('keeps an object until its last finalizer is removed', () => {
    const { apiServer } = createTestServer();
    const held = { ...configMap('c'), metadata: { namespace: 'default', name: 'c', finalizers: ['edgeset.io/hold'] } };
    apiServer.create(configMaps, held);
    assert.ok(apiServer.delete(configMaps, ref('c')));
    const more = { metadata: { finalizers: ['edgeset.io/hold', 'edgeset.io/more'] } };
    refuses(() => apiServer.patch(configMaps, ref('c'), more, { type: 'merge' }), 'Invalid', /no new finalizers/);
    apiServer.patch(configMaps, ref('c'), { metadata: { finalizers: null } }, { type: 'merge' });
    assert.equal(apiServer.find(configMaps, ref('c')), undefined);
  });

  it('sets the finalizers for the garbage collector', () => {
    const { apiServer } = createTestServer();
    for (const [policy, finalizer] of [
      ['Foreground', 'foregroundDeletion'],
      ['Orphan', 'orphan'],
    ] as const) {
      apiServer.create<object>(daemonSets, daemonSet(finalizer.toLowerCase()));
      const left = apiServer.delete<StoredDaemonSet>(daemonSets, ref(finalizer.toLowerCase()), {
        propagationPolicy: policy,
      });
      assert.deepEqual(left?.metadata.finalizers, [finalizer]);
    }
  });

  it('honours the preconditions of deletions', () => {
    const { apiServer } = createTestServer();
    const made = apiServer.create<object>(configMaps, configMap('c')) as StoredObject;
    const wrong = { preconditions: { uid: 'other' } };
    refuses(() => apiServer.delete(configMaps, ref('c'), wrong), 'Conflict', /UID in the precondition \(other\)/);
    apiServer.delete(configMaps, ref('c'), { preconditions: { uid: made.metadata.uid } });
    assert.equal(apiServer.find(configMaps, ref('c')), undefined);
  });

  it('delivers changes in commit order, including those made by handlers', () => {
    const { apiServer } = createTestServer();
    const received: string[] = [];
    apiServer.subscribe(({ type, object }) => {
      if (type === 'ADDED' && object.metadata.name === 'first')
        apiServer.create<object>(configMaps, configMap('second'));
    });
    const end = apiServer.subscribe(({ type, object }: Change) => received.push(`${type} ${object.metadata.name}`));
    apiServer.create<object>(configMaps, configMap('first'));
    apiServer.delete(configMaps, ref('first'));
    end();
    apiServer.delete(configMaps, ref('second'));
    assert.deepEqual(received, ['ADDED first', 'ADDED second', 'DELETED first']);
  });

  it('finds the pods of a node, with and without the index', () => {
    const { apiServer } = createTestServer();
    for (const name of ['b', 'a', 'c']) apiServer.create<object>(pods, pod(name, name === 'c' ? 'n2' : 'n1'));
    const names = (fieldSelector: string): string[] =>
      apiServer.list<StoredPod>(pods, { fieldSelector }).map(({ metadata }) => metadata.name);
    assert.deepEqual(names('spec.nodeName=n1'), ['a', 'b']);
    assert.deepEqual(names('spec.nodeName!=n2'), ['a', 'b']);
    apiServer.delete(pods, ref('a'), { gracePeriodSeconds: 0 });
    assert.deepEqual(names('spec.nodeName=n1'), ['b']);
    refuses(() => apiServer.list(pods, { fieldSelector: 'spec.nope=1' }), 'BadRequest', /field label not supported/);
  });

  it('dry runs change nothing', () => {
    const { apiServer } = createTestServer();
    const before = apiServer.resourceVersion;
    apiServer.create<object>(configMaps, configMap('c'), { dryRun: true });
    assert.equal(apiServer.resourceVersion, before);
  });

  it('taints new nodes as not ready', () => {
    const { apiServer } = createTestServer();
    const node = apiServer.create<object>(nodes, { metadata: { name: 'n1' } }) as { spec?: { taints?: unknown[] } };
    assert.deepEqual(node.spec?.taints, [{ effect: 'NoSchedule', key: 'node.kubernetes.io/not-ready' }]);
  });

  it("rejects pod updates that a kubelet can't apply", () => {
    const { apiServer } = createTestServer();
    const made = apiServer.create<Pod>(pods, pod('p', 'n1'));
    const moved = { ...made, spec: { ...made.spec, nodeName: 'n2' } };
    refuses(() => apiServer.update<object>(pods, moved), 'Invalid', /may not change fields other than/);
    const image = { spec: { containers: [{ name: 'app', image: 'app:v2' }] } };
    const next = apiServer.patch<StoredPod>(pods, ref('p'), image, { type: 'strategic' });
    assert.equal(next.spec?.containers[0]?.image, 'app:v2');
  });
});
