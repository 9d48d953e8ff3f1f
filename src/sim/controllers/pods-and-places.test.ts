import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonSets, nodes, pods } from '../resources.ts';
import { conditionOf, createTestCluster } from '../testing/test-cluster.ts';

describe('scheduler', () => {
  it('spreads pods over the nodes that fit', () => {
    const { createPod, pod, clock } = createTestCluster();
    for (const name of ['a', 'b', 'c']) createPod(name);
    clock.run(1000);
    const places = ['a', 'b', 'c'].map((name) => pod(name).spec?.nodeName ?? '');
    assert.deepEqual(places.toSorted(), ['node-1', 'node-2', 'node-3']);
  });

  it('leaves a pod that fits nowhere pending, reports why, and binds it once it fits', () => {
    const { createPod, pod, clock, apiServer, eventsAbout } = createTestCluster();
    createPod('a', { nodeSelector: { tier: 'gold' } });
    clock.run(1000);
    assert.equal(pod('a').status?.phase, 'Pending');
    assert.equal(conditionOf(pod('a'), 'PodScheduled'), 'False');
    assert.equal(eventsAbout('a').length, 1, 'once');
    apiServer.patch<object>(nodes, { name: 'node-2' }, { metadata: { labels: { tier: 'gold' } } }, { type: 'merge' });
    clock.run(1000);
    assert.equal(pod('a').spec?.nodeName, 'node-2');
    assert.equal(conditionOf(pod('a'), 'PodScheduled'), 'True');
  });

  it('binds no pods while paused', () => {
    const { createDaemonSet, pods: all, clock, cluster } = createTestCluster();
    cluster.controllers.scheduler.pause();
    createDaemonSet();
    clock.run(5000);
    assert.deepEqual(
      all().map(({ status, spec }) => [status?.phase, spec?.nodeName]),
      [1, 2, 3].map(() => ['Pending', undefined]),
    );
    cluster.controllers.scheduler.resume();
    clock.run(2000);
    assert.ok(all().every((pod) => conditionOf(pod, 'Ready') === 'True'));
  });
});

describe('pod garbage collection', () => {
  it('deletes the pods of a deleted node 40 to 60 seconds later', () => {
    const { createPod, exists, remove, clock } = createTestCluster();
    createPod('a', { nodeName: 'node-1' });
    clock.run(2000);
    remove(nodes, 'node-1');
    clock.run(39_000);
    assert.ok(exists(pods, 'a'));
    clock.run(22_000);
    assert.ok(!exists(pods, 'a'));
  });

  it('keeps them if the node is back in time', () => {
    const { createPod, exists, remove, clock, cluster } = createTestCluster();
    createPod('a', { nodeName: 'node-1' });
    clock.run(2000);
    remove(nodes, 'node-1');
    clock.run(20_000);
    cluster.addNode('node-1');
    clock.run(100_000);
    assert.ok(exists(pods, 'a'));
  });
});

describe('the DaemonSet controller under faults', () => {
  it('does nothing while paused, and then catches up', () => {
    const { createDaemonSet, pods: all, podOn, remove, clock, cluster } = createTestCluster();
    createDaemonSet();
    clock.run(3000);
    cluster.controllers.daemonSets.pause();
    remove(pods, podOn('node-1').metadata.name);
    clock.run(60_000);
    assert.equal(all().length, 2);
    cluster.controllers.daemonSets.resume();
    clock.run(3000);
    assert.equal(all().length, 3);
  });

  it('creates no pod twice when its watch lags', () => {
    const { createDaemonSet, apiServer, pods: all, clock, cluster } = createTestCluster();
    cluster.controllers.daemonSets.lag(2000);
    let created = 0;
    apiServer.subscribe(({ type, resource }) => {
      if (type === 'ADDED' && resource.plural === 'pods') created += 1;
    });
    createDaemonSet();
    clock.run(1900);
    assert.equal(created, 0, 'it has not heard of it');
    // Another sync in the meantime: expectations prevent a second creation.
    for (let round = 0; round < 10; round += 1) {
      const body = { metadata: { annotations: { round: String(round) } } };
      apiServer.patch<object>(daemonSets, { namespace: 'default', name: 'app' }, body, { type: 'merge' });
      clock.run(500);
    }
    clock.run(30_000);
    assert.equal(created, 3);
    assert.ok(all().every((pod) => conditionOf(pod, 'Ready') === 'True'));
  });

  it('retries rejected creations', () => {
    const { createDaemonSet, pods: all, apiServer, clock } = createTestCluster();
    createDaemonSet('app:v1', {
      spec: { serviceAccountName: 'later', containers: [{ name: 'app', image: 'app:v1' }] },
    });
    clock.run(30_000);
    assert.equal(all().length, 0);
    const accounts = { group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true };
    apiServer.create<object>(accounts, { metadata: { name: 'later', namespace: 'default' } });
    clock.run(60_000);
    assert.equal(all().length, 3);
  });
});
