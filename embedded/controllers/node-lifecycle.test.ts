import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodes } from '../../src/kube/index.ts';
import { conditionOf, createTestCluster, GRACE_MS, taintsOf } from '../testing/test-cluster.ts';

describe('node lifecycle', () => {
  it('makes a new node schedulable once its kubelet reports Ready', () => {
    const { node } = createTestCluster();
    assert.equal(conditionOf(node('node-1'), 'Ready'), 'True');
    assert.deepEqual(taintsOf(node('node-1')), []);
  });

  it('marks a silent node Unknown after the grace period, and taints it', () => {
    const { node, offline, clock, eventsAbout } = createTestCluster();
    offline('node-1');
    // The last heartbeat may be up to a third of the grace period old.
    clock.run((GRACE_MS * 2) / 3 - 100);
    assert.equal(conditionOf(node('node-1'), 'Ready'), 'True');
    clock.run(GRACE_MS / 3 + 200);
    for (const type of ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'])
      assert.equal(conditionOf(node('node-1'), type), 'Unknown');
    assert.deepEqual(taintsOf(node('node-1')), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
    assert.equal(conditionOf(node('node-2'), 'Ready'), 'True');
    assert.ok(eventsAbout('node-1').some((text) => text.startsWith('NodeNotReady')));
  });

  it('adds the NoExecute taint to one node per ten seconds', () => {
    const { node, offline, clock } = createTestCluster();
    for (const name of ['node-1', 'node-2', 'node-3']) offline(name);
    clock.run(GRACE_MS + 1000);
    const evicting = (): number =>
      ['node-1', 'node-2', 'node-3'].filter((name) => taintsOf(node(name)).includes('unreachable:NoExecute')).length;
    assert.equal(evicting(), 1);
    clock.run(10_000);
    assert.equal(evicting(), 2);
    clock.run(10_000);
    assert.equal(evicting(), 3);
  });

  it('reverts everything when the node reports again', () => {
    const { node, offline, online, clock } = createTestCluster();
    offline('node-1');
    clock.run(20_000);
    online('node-1');
    clock.run(1000);
    assert.equal(conditionOf(node('node-1'), 'Ready'), 'True');
    assert.deepEqual(taintsOf(node('node-1')), []);
    clock.run(60_000);
    assert.equal(conditionOf(node('node-1'), 'Ready'), 'True', 'and it stays so');
  });

  it('detects a second silence like the first', () => {
    const { node, offline, online, clock } = createTestCluster();
    for (const _ of [1, 2]) {
      offline('node-1');
      clock.run(GRACE_MS + 100);
      assert.equal(conditionOf(node('node-1'), 'Ready'), 'Unknown');
      online('node-1');
      clock.run(1000);
      assert.equal(conditionOf(node('node-1'), 'Ready'), 'True');
    }
  });

  it('marks the pods of a lost node not ready, and their kubelet marks them ready again', () => {
    const { createDaemonSet, podOn, offline, online, clock, eventsAbout } = createTestCluster();
    createDaemonSet();
    clock.run(2000);
    const { uid, name } = podOn('node-1').metadata;
    assert.equal(conditionOf(podOn('node-1'), 'Ready'), 'True');
    offline('node-1');
    clock.run(GRACE_MS + 1000);
    assert.equal(conditionOf(podOn('node-1'), 'Ready'), 'False');
    assert.equal(podOn('node-1').status?.phase, 'Running');
    assert.deepEqual(
      eventsAbout(name).filter((text) => text.startsWith('NodeNotReady')),
      ['NodeNotReady: Node is not ready'],
    );
    online('node-1');
    clock.run(1000);
    assert.equal(conditionOf(podOn('node-1'), 'Ready'), 'True');
    assert.equal(podOn('node-1').metadata.uid, uid);
  });

  it('handles nodes that report not ready themselves', () => {
    const { apiServer, createDaemonSet, node, podOn, clock } = createTestCluster();
    createDaemonSet();
    clock.run(2000);
    const conditions = node('node-1').status?.conditions?.map((each) =>
      each.type === 'Ready' ? { ...each, status: 'False' } : each,
    );
    const seen: string[] = [];
    apiServer.subscribe(({ resource, object }) => {
      const pod = object as unknown as ReturnType<typeof podOn>;
      if (resource.plural === 'pods' && pod.spec?.nodeName === 'node-1') seen.push(String(conditionOf(pod, 'Ready')));
    });
    apiServer.patch<object>(
      nodes,
      { name: 'node-1' },
      { status: { conditions } },
      { type: 'merge', subresource: 'status' },
    );
    clock.run(1);
    assert.deepEqual(taintsOf(node('node-1')), ['not-ready:NoExecute', 'not-ready:NoSchedule']);
    assert.equal(seen[0], 'False');
  });

  it('taints cordoned nodes, and keeps the taints of others', () => {
    const { apiServer, node, clock } = createTestCluster();
    const change = (spec: object): unknown =>
      apiServer.patch<object>(nodes, { name: 'node-1' }, { spec }, { type: 'merge' });
    change({ unschedulable: true, taints: [{ key: 'mine', effect: 'NoSchedule' }] });
    clock.run(100);
    assert.deepEqual(taintsOf(node('node-1')), ['mine:NoSchedule', 'unschedulable:NoSchedule']);
    change({ unschedulable: null });
    clock.run(100);
    assert.deepEqual(taintsOf(node('node-1')), ['mine:NoSchedule']);
  });

  it('costs one write per heartbeat', () => {
    const { apiServer, clock } = createTestCluster();
    clock.run(10_000);
    const written = new Map<string, number>();
    apiServer.subscribe(({ resource }) => written.set(resource.plural, (written.get(resource.plural) ?? 0) + 1));
    clock.run(60_000);
    const beats = (60_000 / (GRACE_MS / 3)) * 3;
    assert.deepEqual([...written.keys()], ['leases']);
    assert.ok(Math.abs((written.get('leases') ?? 0) - beats) <= 3, `${written.get('leases')} of ${beats}`);
  });
});
