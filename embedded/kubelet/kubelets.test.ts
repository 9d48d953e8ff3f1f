import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerStatus } from 'kubernetes-types/core/v1.d.ts';
import { nodes, pods } from '../../src/kube/index.ts';
import type { StoredPod } from '../resources.ts';
import { conditionOf, createTestCluster, GRACE_MS } from '../testing/test-cluster.ts';

const containerOf = ({ status }: StoredPod): ContainerStatus => {
  const [container] = status?.containerStatuses ?? [];
  if (!container) throw new Error('the pod has no container yet');
  return container;
};
const waitingOf = (pod: StoredPod): string | undefined => containerOf(pod).state?.waiting?.reason;

describe('a pod on a simulated node', () => {
  it('goes from Pending through ContainerCreating to Ready, with the statuses of a runtime', () => {
    const { createPod, pod, clock } = createTestCluster(['node-1']);
    createPod('a', { nodeName: 'node-1' });
    assert.equal(pod('a').status?.phase, 'Pending');
    clock.run(50);
    assert.equal(waitingOf(pod('a')), 'ContainerCreating');
    clock.run(1000);
    assert.equal(pod('a').status?.phase, 'Running');
    assert.equal(conditionOf(pod('a'), 'Ready'), 'True');
    const { containerID, imageID, restartCount, state } = containerOf(pod('a'));
    assert.match(containerID ?? '', /^containerd:\/\/[0-9a-f]{64}$/);
    assert.match(imageID, /^sha256:[0-9a-f]{64}$/);
    assert.equal(restartCount, 0);
    assert.ok(state?.running?.startedAt);
    assert.match(pod('a').status?.podIP ?? '', /^10\./);
  });

  it('terminates gracefully: containers first, then the object', () => {
    const { createPod, pod, exists, remove, clock, apiServer } = createTestCluster(['node-1']);
    createPod('a', { nodeName: 'node-1' });
    clock.run(1000);
    const phases: string[] = [];
    apiServer.subscribe(({ resource, object, type }) => {
      if (resource.plural === 'pods') phases.push(`${type} ${(object.status as { phase: string }).phase}`);
    });
    remove(pods, 'a');
    assert.ok(pod('a').metadata.deletionTimestamp);
    clock.run(1000);
    assert.equal(exists(pods, 'a'), false);
    assert.equal(phases.at(-1), 'DELETED Succeeded');
  });

  it('crash-loops with increasing back-off', () => {
    const { createPod, pod, clock } = createTestCluster(['node-1']);
    createPod('a', { nodeName: 'node-1', containers: [{ name: 'app', image: 'app:v1--crash-loop' }] });
    clock.run(1000);
    assert.equal(waitingOf(pod('a')), 'CrashLoopBackOff');
    assert.equal(containerOf(pod('a')).lastState?.terminated?.exitCode, 1);
    clock.run(3500);
    const unclaimedPods = containerOf(pod('a')).restartCount;
    clock.run(3500);
    const late = containerOf(pod('a')).restartCount;
    assert.ok(unclaimedPods >= 3 && late - unclaimedPods <= 1, `${unclaimedPods}, then ${late}`);
    assert.notEqual(conditionOf(pod('a'), 'Ready'), 'True');
  });

  it('updates an image in place: the old container stops before the new one starts', () => {
    const { createPod, pod, clock, apiServer } = createTestCluster(['node-1']);
    createPod('a', { nodeName: 'node-1' });
    clock.run(1000);
    const before = containerOf(pod('a'));
    const states: string[] = [];
    apiServer.subscribe(({ resource, object }) => {
      if (resource.plural === 'pods')
        states.push(Object.keys(containerOf(object as unknown as StoredPod).state ?? {}).join());
    });
    apiServer.patch<object>(
      pods,
      { namespace: 'default', name: 'a' },
      { spec: { containers: [{ name: 'app', image: 'app:v2' }] } },
      { type: 'strategic' },
    );
    clock.run(2000);
    assert.deepEqual(states, ['running', 'waiting', 'running']);
    const after = containerOf(pod('a'));
    assert.equal(after.restartCount, 1);
    assert.notEqual(after.imageID, before.imageID);
    assert.equal(conditionOf(pod('a'), 'Ready'), 'True');
  });
});

describe('an offline node', () => {
  it('sends and does nothing until it is back, and then continues', () => {
    const { createDaemonSet, podOn, remove, offline, online, clock, apiServer, pods: all } = createTestCluster();
    createDaemonSet();
    clock.run(3000);
    const starting = podOn('node-1').metadata.name;
    remove(pods, starting);
    clock.run(450);
    const present = podOn('node-1');
    assert.equal(waitingOf(present), 'ContainerCreating', 'cut while its pod starts');
    offline('node-1');
    remove(pods, podOn('node-2').metadata.name);
    clock.run(50);
    offline('node-2');
    const beats: string[] = [];
    apiServer.subscribe(({ resource, object }) => {
      if (resource.plural === 'leases') beats.push(object.metadata.name);
    });
    clock.run(60_000);
    assert.equal(waitingOf(podOn('node-1')), 'ContainerCreating');
    assert.ok(containerOf(podOn('node-2')).state?.running, 'and one that was to end has not ended');
    assert.deepEqual([...new Set(beats)], ['node-3']);
    online('node-1');
    online('node-2');
    clock.run(3000);
    assert.ok(all().every((pod) => conditionOf(pod, 'Ready') === 'True' && !pod.metadata.deletionTimestamp));
    assert.equal(podOn('node-1').metadata.uid, present.metadata.uid);
  });

  it('restarts the actions that were pending when it went offline', () => {
    const { createPod, pod, offline, online, clock } = createTestCluster(['node-1']);
    createPod('a', { nodeName: 'node-1' }, { annotations: { 'sim.edgeset.io/start-ms': '10000' } });
    clock.run(5000);
    offline('node-1');
    clock.run(1000);
    online('node-1');
    clock.run(9900);
    assert.equal(waitingOf(pod('a')), 'ContainerCreating');
    clock.run(6000);
    assert.equal(conditionOf(pod('a'), 'Ready'), 'True');
  });

  it('results from a version that kills its node', () => {
    const { createDaemonSet, node, clock } = createTestCluster(['node-1']);
    createDaemonSet('app:v1--kills-node');
    clock.run(3000 + GRACE_MS);
    assert.equal(node('node-1').metadata.annotations?.['edgeset.io/sim'], 'offline');
    assert.equal(conditionOf(node('node-1'), 'Ready'), 'Unknown');
  });
});

describe('a node', () => {
  it('sets and resets the behaviour of its pods', () => {
    const { createDaemonSet, podOn, annotate, clock } = createTestCluster();
    createDaemonSet();
    clock.run(3000);
    annotate('node-1', { 'edgeset.io/sim': 'never-ready' });
    clock.run(1000);
    assert.equal(conditionOf(podOn('node-1'), 'Ready'), 'False');
    assert.equal(conditionOf(podOn('node-2'), 'Ready'), 'True');
    annotate('node-1', { 'edgeset.io/sim': null });
    clock.run(1000);
    assert.equal(conditionOf(podOn('node-1'), 'Ready'), 'True');
  });

  it('warns about an unknown value', () => {
    const { annotate, eventsAbout, clock } = createTestCluster();
    annotate('node-1', { 'edgeset.io/sim': 'ofline' });
    clock.run(100);
    assert.match(
      eventsAbout('node-1').join(),
      /UnknownSimulation: edgeset\.io\/sim=ofline is not known: use one of offline, ready/,
    );
  });

  it('has a kubelet whoever creates it, also when it is created again', () => {
    const { apiServer, node, remove, clock } = createTestCluster([]);
    for (const _ of [1, 2]) {
      apiServer.create<object>(nodes, { metadata: { name: 'mine' } });
      clock.run(1000);
      assert.equal(conditionOf(node('mine'), 'Ready'), 'True');
      assert.equal(node('mine').metadata.labels?.['kubernetes.io/hostname'], 'mine');
      clock.run(30_000);
      assert.equal(conditionOf(node('mine'), 'Ready'), 'True');
      remove(nodes, 'mine');
      clock.run(1000);
    }
  });

  it('is marked after the grace period if its kubelet cannot register', () => {
    const { apiServer, node, clock } = createTestCluster([]);
    const name = 'n'.repeat(64);
    apiServer.create<object>(nodes, { metadata: { name } });
    clock.run(GRACE_MS + 1000);
    const [ready] = node(name).status?.conditions?.filter(({ type }) => type === 'Ready') ?? [];
    assert.equal(ready?.status, 'Unknown');
    assert.equal(ready.reason, 'NodeStatusNeverUpdated');
    assert.equal(ready.lastTransitionTime, '2026-01-01T00:00:06Z');
  });

  it('finds its pods when it is created again, even if it was offline', () => {
    const { createDaemonSet, podOn, remove, offline, online, cluster, exists, clock } = createTestCluster([
      'node-1',
      'node-2',
    ]);
    createDaemonSet();
    clock.run(3000);
    offline('node-1');
    const { name } = podOn('node-1').metadata;
    remove(pods, name);
    remove(nodes, 'node-1');
    cluster.addNode('node-1');
    online('node-1');
    clock.run(3000);
    assert.equal(exists(pods, name), false, 'the pod that was to end has ended');
    assert.equal(conditionOf(podOn('node-1'), 'Ready'), 'True');
  });
});
