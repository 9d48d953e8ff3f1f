import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerStatus } from 'kubernetes-types/core/v1.d.ts';
import { pods } from '../../src/kube/index.ts';
import type { StoredPod } from '../resources.ts';
import { conditionOf, createTestCluster } from '../testing/test-cluster.ts';

const ref = { namespace: 'default', name: 'a' };

const amounts = (cpu: string) => ({ requests: { cpu, memory: '64Mi' } });

/** A ready pod with a sidecar and two containers, and helpers to update it. */
const open = (spec: object = {}, annotations: Record<string, string> = {}) => {
  const { createPod, pod, clock, apiServer, eventsAbout } = createTestCluster(['node-1']);
  const containers = [
    { name: 'app', image: 'app:v1', resources: amounts('100m') },
    { name: 'other', image: 'other:v1' },
  ];
  const initContainers = [
    { name: 'once', image: 'once:v1' },
    { name: 'side', image: 'side:v1', restartPolicy: 'Always' },
  ];
  createPod('a', { nodeName: 'node-1', initContainers, containers, ...spec }, { annotations });
  clock.run(1000);
  const statusOf = (name: string, of: StoredPod = pod('a')): ContainerStatus => {
    const all = [...(of.status?.initContainerStatuses ?? []), ...(of.status?.containerStatuses ?? [])];
    const found = all.find((each) => each.name === name);
    assert.ok(found, `${name} has no status`);
    return found;
  };
  const patch = (change: object, subresource?: string): unknown =>
    apiServer.patch<StoredPod>(pods, ref, change, { type: 'strategic', ...(subresource && { subresource }) });
  const image = (list: string, name: string, to: string): unknown => patch({ spec: { [list]: [{ name, image: to }] } });
  const seen: StoredPod[] = [];
  apiServer.subscribe(({ resource, object }) => {
    if (resource.plural === 'pods') seen.push(object as unknown as StoredPod);
  });
  return { pod: () => pod('a'), clock, statusOf, patch, image, seen, eventsAbout };
};

describe('an in-place update', () => {
  for (const [list, name, others] of [
    ['containers', 'app', ['once', 'side', 'other']],
    ['initContainers', 'side', ['once', 'app', 'other']],
  ] as const)
    it(`replaces only ${name}, with a new container`, () => {
      const { clock, statusOf, image, seen, pod } = open();
      const before = statusOf(name);
      const untouched = others.map((each) => statusOf(each));
      clock.run(1000);
      image(list, name, `${name}:v2`);
      clock.run(1000);
      const after = statusOf(name);
      assert.notEqual(after.containerID, before.containerID);
      assert.notEqual(after.imageID, before.imageID);
      assert.notEqual(after.state?.running?.startedAt, before.state?.running?.startedAt);
      assert.deepEqual([after.image, after.restartCount, after.ready], [`${name}:v2`, 1, true]);
      assert.equal(after.lastState?.terminated?.containerID, before.containerID);
      assert.deepEqual(
        others.map((each) => statusOf(each)),
        untouched,
      );
      const down = seen.map((each) => statusOf(name, each)).find(({ state }) => state?.waiting);
      assert.deepEqual([down?.containerID, down?.image, down?.restartCount], [before.containerID, before.image, 0]);
      assert.equal(conditionOf(pod(), 'Ready'), 'True');
    });

  it("doesn't run plain init containers again", () => {
    const { clock, image, seen } = open();
    image('initContainers', 'once', 'once:v2');
    clock.run(2000);
    assert.equal(seen.length, 1);
  });

  it("is down while its image can't be pulled, and recovers with the previous one", () => {
    const { clock, statusOf, image, pod, eventsAbout } = open();
    const before = statusOf('app');
    image('containers', 'app', 'app:v2--not-pullable');
    clock.run(3000);
    const down = statusOf('app');
    assert.equal(down.state?.waiting?.reason, 'ImagePullBackOff');
    assert.match(down.state?.waiting?.message ?? '', /app:v2--not-pullable/);
    assert.equal(conditionOf(pod(), 'Ready'), 'False');
    assert.ok(statusOf('other').state?.running);
    assert.ok(eventsAbout('a').some((each) => each.startsWith('Failed: Failed to pull image "app:v2--not-pullable"')));
    image('containers', 'app', 'app:v1');
    clock.run(3000);
    const after = statusOf('app');
    assert.equal(after.imageID, before.imageID);
    assert.notEqual(after.containerID, before.containerID);
    assert.deepEqual([after.restartCount, conditionOf(pod(), 'Ready')], [1, 'True']);
  });

  it('crashes only the container with the bad image', () => {
    const { clock, statusOf, image } = open();
    const before = statusOf('other');
    image('containers', 'other', 'other:v2--crash-loop');
    clock.run(1000);
    const crashed = statusOf('other');
    assert.deepEqual([crashed.state?.waiting?.reason, crashed.restartCount], ['CrashLoopBackOff', 2]);
    assert.notEqual(crashed.containerID, before.containerID);
    clock.run(2000);
    assert.equal(statusOf('other').state?.waiting?.reason, 'CrashLoopBackOff');
    assert.deepEqual([statusOf('app').restartCount, statusOf('app').ready], [0, true]);
  });
});

describe('the conditions of a pod', () => {
  it('are in the order of a kubelet: those of others, then its own', () => {
    const { clock, patch, pod } = open();
    patch({ status: { conditions: [{ type: 'PodNeedUpgrade', status: 'True' }] } }, 'status');
    patch({ status: { conditions: [{ type: 'Ready', status: 'False' }] } }, 'status');
    clock.run(1000);
    assert.deepEqual(
      pod().status?.conditions?.map(({ type }) => type),
      ['PodNeedUpgrade', 'PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'],
    );
  });
});

describe('readiness gates', () => {
  const gates = { readinessGates: [{ conditionType: 'Open' }] };
  it('determine the Ready condition shortly after they change', () => {
    const { clock, patch, pod } = open(gates);
    assert.deepEqual([conditionOf(pod(), 'ContainersReady'), conditionOf(pod(), 'Ready')], ['True', 'False']);
    for (const status of ['True', 'False']) {
      const before = conditionOf(pod(), 'Ready');
      patch({ status: { conditions: [{ type: 'Open', status }] } }, 'status');
      clock.run(50);
      assert.equal(conditionOf(pod(), 'Ready'), before);
      clock.run(100);
      assert.equal(conditionOf(pod(), 'Ready'), status);
    }
    assert.equal(pod().status?.conditions?.find(({ type }) => type === 'Ready')?.reason, 'ReadinessGatesNotReady');
  });
});

describe('an in-place resize', () => {
  const grant = { spec: { containers: [{ name: 'app', resources: amounts('200m') }] } };
  const applied = (status: object): unknown => (status as { resources?: unknown }).resources;

  for (const [value, reason] of [
    ['infeasible', 'Infeasible'],
    ['deferred', 'Deferred'],
  ] as const)
    it(`stays pending if it is ${value}, until it is reverted`, () => {
      const { clock, patch, statusOf, pod } = open({}, { 'sim.edgeset.io/resize': value });
      patch(grant, 'resize');
      clock.run(2000);
      const pending = pod().status?.conditions?.find(({ type }) => type === 'PodResizePending');
      assert.deepEqual([pending?.status, pending?.reason], ['True', reason]);
      assert.deepEqual(applied(statusOf('app')), amounts('100m'));
      assert.equal(conditionOf(pod(), 'Ready'), 'True');
      patch({ spec: { containers: [{ name: 'app', resources: amounts('100m') }] } }, 'resize');
      clock.run(2000);
      assert.equal(conditionOf(pod(), 'PodResizePending'), undefined);
    });
});
