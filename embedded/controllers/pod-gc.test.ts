import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodes, pods } from '../../src/kube/index.ts';
import { createTestCluster } from '../testing/test-cluster.ts';

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
