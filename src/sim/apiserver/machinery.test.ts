import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConfigMap, Pod } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, type KubeErrorCode } from '../../kube/index.ts';
import { daemonSets, type KeptDaemonSet, type KeptPod, leases, namespaces, nodes, pods } from '../resources.ts';
import type { Change, StoredObject } from '../types.ts';
import { configMap, daemonSet, pod, START, setUp } from './testing/index.ts';

const configMaps = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const ref = (name: string) => ({ namespace: 'default', name });

const refuses = (act: () => unknown, code: KubeErrorCode, message: RegExp): void => {
  assert.throws(act, (error) => isKubeError(error, code) && message.test(error.message));
};

describe('the embedded API server in process', () => {
  it('fills in what users leave out', () => {
    const { machinery } = setUp();
    const made = machinery.create<object>(daemonSets, daemonSet('web')) as KeptDaemonSet;
    assert.equal(made.metadata.generation, 1);
    assert.equal(made.metadata.creationTimestamp, '2026-01-01T00:00:00Z');
    assert.equal(made.spec?.updateStrategy?.type, 'RollingUpdate');
    assert.equal(made.spec?.revisionHistoryLimit, 10);
    assert.equal(made.spec?.template.spec?.dnsPolicy, 'ClusterFirst');
    assert.equal(made.spec?.template.spec?.containers[0]?.imagePullPolicy, 'IfNotPresent');
  });

  it('makes the same names and UIDs of the same chance', () => {
    const make = (): unknown => {
      const { machinery } = setUp();
      return machinery.create<object>(pods, { ...pod('x'), metadata: { namespace: 'default', generateName: 'x-' } });
    };
    assert.deepEqual(make(), make());
  });

  it('counts a change of the spec as a generation, and no other', () => {
    const { machinery } = setUp();
    machinery.create<object>(daemonSets, daemonSet('web'));
    const generation = (): number | undefined =>
      machinery.get<KeptDaemonSet>(daemonSets, ref('web')).metadata.generation;
    machinery.patch(daemonSets, ref('web'), { metadata: { labels: { a: 'b' } } }, { type: 'merge' });
    assert.equal(generation(), 1);
    machinery.patch(daemonSets, ref('web'), { status: { numberReady: 3 } }, { type: 'merge', subresource: 'status' });
    assert.equal(generation(), 1);
    machinery.patch(daemonSets, ref('web'), { spec: { minReadySeconds: 3 } }, { type: 'merge' });
    assert.equal(generation(), 2);
  });

  it('takes the status only at /status, and the spec only beside it', () => {
    const { machinery } = setUp();
    machinery.create<object>(daemonSets, daemonSet('web'));
    const both = { spec: { minReadySeconds: 3 }, status: { numberReady: 3 } };
    const main = machinery.patch<KeptDaemonSet>(daemonSets, ref('web'), both, { type: 'merge' });
    assert.deepEqual([main.spec?.minReadySeconds, main.status?.numberReady], [3, 0]);
    const sub = { spec: { minReadySeconds: 9 }, status: { numberReady: 5 } };
    const status = machinery.patch<KeptDaemonSet>(daemonSets, ref('web'), sub, {
      type: 'merge',
      subresource: 'status',
    });
    assert.deepEqual([status.spec?.minReadySeconds, status.status?.numberReady], [3, 5]);
  });

  it('writes nothing when nothing changes', () => {
    const { machinery } = setUp();
    const made = machinery.create<object>(configMaps, configMap('c')) as StoredObject;
    const before = machinery.resourceVersion;
    assert.equal(machinery.update<object>(configMaps, { ...made }), made);
    machinery.patch(configMaps, ref('c'), { data: { a: '1' } }, { type: 'merge' });
    assert.equal(machinery.resourceVersion, before);
  });

  it('refuses an update of what has changed meanwhile', () => {
    const { machinery } = setUp();
    const old = machinery.create<ConfigMap>(configMaps, configMap('c'));
    machinery.patch(configMaps, ref('c'), { data: { a: '2' } }, { type: 'merge' });
    refuses(() => machinery.update(configMaps, { ...old, data: { a: '3' } }), 'Conflict', /has been modified/);
    refuses(
      () => machinery.update<object>(leases, { metadata: { namespace: 'default', name: 'l' } }),
      'NotFound',
      /leases/,
    );
  });

  it('creates nothing in a namespace that is not there or is going', () => {
    const { machinery } = setUp();
    const inShop = { ...configMap('c'), metadata: { namespace: 'shop', name: 'c' } };
    refuses(() => machinery.create(configMaps, inShop), 'NotFound', /namespaces "shop" not found/);
    machinery.create<object>(namespaces, { metadata: { name: 'shop' } });
    machinery.create(configMaps, inShop);
    machinery.delete(namespaces, { name: 'shop' });
    const late = { ...inShop, metadata: { namespace: 'shop', name: 'late' } };
    refuses(() => machinery.create(configMaps, late), 'Forbidden', /because it is being terminated/);
  });

  it('lets a pod end in its time, and at once where nobody runs it', () => {
    const { machinery, clock } = setUp();
    machinery.create<object>(pods, pod('bound', 'n1'));
    machinery.create<object>(pods, pod('free'));
    const going = machinery.delete<KeptPod>(pods, ref('bound'));
    assert.equal(going?.metadata.deletionGracePeriodSeconds, 30);
    assert.equal(Date.parse(String(going?.metadata.deletionTimestamp)), START + 30_000);
    clock.run(5000);
    const sooner = machinery.delete<KeptPod>(pods, ref('bound'), { gracePeriodSeconds: 10 });
    assert.equal(Date.parse(String(sooner?.metadata.deletionTimestamp)), START + 10_000);
    assert.equal(machinery.delete(pods, ref('bound'), { gracePeriodSeconds: 0 }), undefined);
    assert.equal(machinery.delete(pods, ref('free')), undefined);
    assert.deepEqual(machinery.list(pods), []);
  });

  it('keeps an object until its last finalizer is gone', () => {
    const { machinery } = setUp();
    const held = { ...configMap('c'), metadata: { namespace: 'default', name: 'c', finalizers: ['edgeset.io/hold'] } };
    machinery.create(configMaps, held);
    assert.ok(machinery.delete(configMaps, ref('c')));
    const more = { metadata: { finalizers: ['edgeset.io/hold', 'edgeset.io/more'] } };
    refuses(() => machinery.patch(configMaps, ref('c'), more, { type: 'merge' }), 'Invalid', /no new finalizers/);
    machinery.patch(configMaps, ref('c'), { metadata: { finalizers: null } }, { type: 'merge' });
    assert.equal(machinery.find(configMaps, ref('c')), undefined);
  });

  it('notes what the garbage collector is to do', () => {
    const { machinery } = setUp();
    for (const [policy, finalizer] of [
      ['Foreground', 'foregroundDeletion'],
      ['Orphan', 'orphan'],
    ] as const) {
      machinery.create<object>(daemonSets, daemonSet(finalizer.toLowerCase()));
      const left = machinery.delete<KeptDaemonSet>(daemonSets, ref(finalizer.toLowerCase()), {
        propagationPolicy: policy,
      });
      assert.deepEqual(left?.metadata.finalizers, [finalizer]);
    }
  });

  it('deletes only what the preconditions name', () => {
    const { machinery } = setUp();
    const made = machinery.create<object>(configMaps, configMap('c')) as StoredObject;
    const wrong = { preconditions: { uid: 'other' } };
    refuses(() => machinery.delete(configMaps, ref('c'), wrong), 'Conflict', /UID in the precondition \(other\)/);
    machinery.delete(configMaps, ref('c'), { preconditions: { uid: made.metadata.uid } });
    assert.equal(machinery.find(configMaps, ref('c')), undefined);
  });

  it('tells of changes in the order of commits, also of those made while telling', () => {
    const { machinery } = setUp();
    const told: string[] = [];
    machinery.subscribe(({ type, object }) => {
      if (type === 'ADDED' && object.metadata.name === 'first')
        machinery.create<object>(configMaps, configMap('second'));
    });
    const end = machinery.subscribe(({ type, object }: Change) => told.push(`${type} ${object.metadata.name}`));
    machinery.create<object>(configMaps, configMap('first'));
    machinery.delete(configMaps, ref('first'));
    end();
    machinery.delete(configMaps, ref('second'));
    assert.deepEqual(told, ['ADDED first', 'ADDED second', 'DELETED first']);
  });

  it('finds the pods of a node, by index as by looking at all', () => {
    const { machinery } = setUp();
    for (const name of ['b', 'a', 'c']) machinery.create<object>(pods, pod(name, name === 'c' ? 'n2' : 'n1'));
    const names = (fieldSelector: string): string[] =>
      machinery.list<KeptPod>(pods, { fieldSelector }).map(({ metadata }) => metadata.name);
    assert.deepEqual(names('spec.nodeName=n1'), ['a', 'b']);
    assert.deepEqual(names('spec.nodeName!=n2'), ['a', 'b']);
    machinery.delete(pods, ref('a'), { gracePeriodSeconds: 0 });
    assert.deepEqual(names('spec.nodeName=n1'), ['b']);
    refuses(() => machinery.list(pods, { fieldSelector: 'spec.nope=1' }), 'BadRequest', /field label not supported/);
  });

  it('dry runs change nothing', () => {
    const { machinery } = setUp();
    const before = machinery.resourceVersion;
    machinery.create<object>(configMaps, configMap('c'), { dryRun: true });
    assert.equal(machinery.resourceVersion, before);
  });

  it('marks a new node as not ready, so that nothing is placed on it', () => {
    const { machinery } = setUp();
    const node = machinery.create<object>(nodes, { metadata: { name: 'n1' } }) as { spec?: { taints?: unknown[] } };
    assert.deepEqual(node.spec?.taints, [{ effect: 'NoSchedule', key: 'node.kubernetes.io/not-ready' }]);
  });

  it('refuses changes of a pod that its kubelet could not follow', () => {
    const { machinery } = setUp();
    const made = machinery.create<Pod>(pods, pod('p', 'n1'));
    const moved = { ...made, spec: { ...made.spec, nodeName: 'n2' } };
    refuses(() => machinery.update<object>(pods, moved), 'Invalid', /may not change fields other than/);
    const image = { spec: { containers: [{ name: 'app', image: 'app:v2' }] } };
    const next = machinery.patch<KeptPod>(pods, ref('p'), image, { type: 'strategic' });
    assert.equal(next.spec?.containers[0]?.image, 'app:v2');
  });
});
