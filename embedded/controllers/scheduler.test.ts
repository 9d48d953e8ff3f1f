import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodes } from '../../src/kube/index.ts';
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
