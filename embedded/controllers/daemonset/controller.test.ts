import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonSets, namespaces, pods } from '../../../src/kube/index.ts';
import { conditionOf, createTestCluster } from '../../testing/test-cluster.ts';

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

  it('does not take a pod of another namespace for its own, and the garbage collector deletes it', () => {
    const { createDaemonSet, pods: all, podOn, apiServer, clock } = createTestCluster();
    createDaemonSet();
    clock.run(3000);
    const { labels = {}, ownerReferences = [] } = podOn('node-1').metadata;
    apiServer.create(namespaces, { metadata: { name: 'tenant' } });
    apiServer.create(pods, {
      metadata: { name: 'forged', namespace: 'tenant', labels, ownerReferences },
      spec: { nodeName: 'node-1', containers: [{ name: 'app', image: 'app:v1' }] },
    });
    assert.equal(apiServer.list(pods).length, 4);
    clock.run(60_000);
    assert.equal(apiServer.list(pods).length, 3);
    assert.equal(all().filter(({ metadata }) => metadata.name === 'forged').length, 0);
  });
});
