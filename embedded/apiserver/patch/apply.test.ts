import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonSets } from '../../../src/kube/index.ts';
import type { StoredDaemonSet } from '../../resources.ts';
import { createTestServer, daemonSet } from '../testing/index.ts';

const ref = { namespace: 'default', name: 'web' };
const configured = (spec: object, metadata: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'web', ...metadata },
  spec,
});

const filled = () => {
  const { apiServer, clock } = createTestServer();
  const config = { apiVersion: 'apps/v1', kind: 'DaemonSet', ...daemonSet('web') };
  const apply = (body: unknown, fieldManager: string, force = false): StoredDaemonSet =>
    apiServer.patch<StoredDaemonSet>(daemonSets, ref, body, { type: 'apply', fieldManager, force });
  apply(config, 'owner');
  return { apiServer, clock, apply, config };
};

const managers = ({ metadata }: StoredDaemonSet): string[] =>
  (metadata.managedFields ?? []).map(({ manager, operation }) => `${manager} ${operation}`);

describe('server-side apply', () => {
  it('creates missing objects, and writes nothing if nothing changes', () => {
    const { apiServer, clock, apply, config } = filled();
    clock.run(60_000);
    const before = apiServer.resourceVersion;
    const again = apply(config, 'owner');
    assert.equal(apiServer.resourceVersion, before);
    assert.deepEqual(managers(again), ['owner Apply']);
  });

  it('shares fields with equal values, and removes a field with its last owner', () => {
    const { apply } = filled();
    const labelled = configured({}, { labels: { shared: 'yes' } });
    apply(labelled, 'one');
    apply(labelled, 'two');
    assert.deepEqual(apply(configured({}), 'one').metadata.labels, { shared: 'yes' });
    assert.equal(apply(configured({}), 'two').metadata.labels, undefined);
  });
});
