import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonSets, namespaces, pods } from '../../src/kube/index.ts';
import { configMaps as maps } from '../apiserver/testing/index.ts';
import { createTestCluster } from '../testing/test-cluster.ts';

interface Made {
  metadata: { uid: string; ownerReferences?: { uid: string }[]; finalizers?: string[]; deletionTimestamp?: string };
}

const setUp = () => {
  const testCluster = createTestCluster(['node-1']);
  const { apiServer } = testCluster;
  const make = (name: string, owners: readonly { name: string; uid: string; blocks?: boolean }[] = []): string =>
    (
      apiServer.create<object>(maps, {
        metadata: {
          name,
          namespace: 'default',
          ownerReferences: owners.map((owner) => ({
            apiVersion: 'v1',
            kind: 'ConfigMap',
            name: owner.name,
            uid: owner.uid,
            blockOwnerDeletion: owner.blocks ?? true,
          })),
        },
      }) as Made
    ).metadata.uid;
  const find = (name: string): Made | undefined => apiServer.find<Made>(maps, { namespace: 'default', name });
  return { ...testCluster, make, find };
};

describe('garbage collector', () => {
  it('keeps an object with another owner, and removes the dangling reference', () => {
    const { make, find, remove, clock } = setUp();
    const [a, b] = [make('a'), make('b')];
    make('both', [
      { name: 'a', uid: a },
      { name: 'b', uid: b },
    ]);
    remove(maps, 'a');
    clock.run(1000);
    assert.deepEqual(
      find('both')?.metadata.ownerReferences?.map(({ uid }) => uid),
      [b],
    );
    remove(maps, 'b');
    clock.run(1000);
    assert.equal(find('both'), undefined);
  });

  it('orphans one dependent at a time if paced, and the owner stays until the last', () => {
    const { make, find, remove, clock, cluster } = setUp();
    const a = make('a');
    const dependents = ['b', 'c', 'd'];
    for (const name of dependents) make(name, [{ name: 'a', uid: a }]);
    const owned = (): number => dependents.filter((name) => find(name)?.metadata.ownerReferences?.length).length;
    cluster.controllers.garbageCollector.pace(1000);
    remove(maps, 'a', { propagationPolicy: 'Orphan' });
    clock.run(500);
    for (const left of [2, 1, 0]) {
      assert.equal(owned(), left);
      assert.ok(find('a'));
      clock.run(1000);
    }
    clock.run(1000);
    assert.equal(find('a'), undefined);
  });

  it('deletes objects whose owner never existed', () => {
    const { make, find, clock } = setUp();
    make('b', [{ name: 'a', uid: 'no-such-uid' }]);
    clock.run(1000);
    assert.equal(find('b'), undefined);
  });

  it('does nothing while paused', () => {
    const { make, find, remove, clock, cluster } = setUp();
    const a = make('a');
    make('b', [{ name: 'a', uid: a }]);
    cluster.controllers.garbageCollector.pause();
    remove(maps, 'a');
    clock.run(10_000);
    assert.ok(find('b'));
    cluster.controllers.garbageCollector.resume();
    clock.run(1000);
    assert.equal(find('b'), undefined);
  });
});

describe('namespaces', () => {
  it('are deleted once everything in them is deleted, pods with their grace period', () => {
    const { apiServer, clock } = setUp();
    const name = 'short';
    apiServer.create<object>(namespaces, { metadata: { name } });
    apiServer.create<object>(daemonSets, {
      metadata: { name: 'app', namespace: name },
      spec: {
        selector: { matchLabels: { app: 'app' } },
        template: { metadata: { labels: { app: 'app' } }, spec: { containers: [{ name: 'app', image: 'app:v1' }] } },
      },
    });
    clock.run(2000);
    assert.equal(apiServer.list(pods, { namespace: name }).length, 1);
    apiServer.delete(namespaces, { name });
    clock.run(50);
    assert.equal(apiServer.find<{ status?: { phase?: string } }>(namespaces, { name })?.status?.phase, 'Terminating');
    clock.run(2000);
    assert.equal(apiServer.find(namespaces, { name }), undefined);
    assert.equal(apiServer.list(pods, { namespace: name }).length, 0);
  });
});
