import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonSets, isKubeError } from '../../../src/kube/index.ts';
import type { StoredDaemonSet } from '../../resources.ts';
import { createTestServer, daemonSet } from '../testing/index.ts';

const ref = { namespace: 'default', name: 'web' };
const configured = (spec: object, metadata: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'web', ...metadata },
  spec,
});
const container = (name: string, image: string) => ({ template: { spec: { containers: [{ name, image }] } } });

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

  it('reports conflicts with other managers by path, unless forced', () => {
    const { apply } = filled();
    const wanted = configured(container('app', 'app:v2'));
    assert.throws(
      () => apply(wanted, 'other'),
      (error) =>
        isKubeError(error, 'Conflict') &&
        error.message ===
          'Apply failed with 1 conflict: conflict with "owner": .spec.template.spec.containers[name="app"].image',
    );
    const forced = apply(wanted, 'other', true);
    assert.equal(forced.spec?.template.spec?.containers[0]?.image, 'app:v2');
    assert.throws(() => apply(configured(container('app', 'app:v3')), 'owner'), /conflict with "other"/);
  });

  it('shares fields with equal values, and removes a field with its last owner', () => {
    const { apply } = filled();
    const labelled = configured({}, { labels: { shared: 'yes' } });
    apply(labelled, 'one');
    apply(labelled, 'two');
    assert.deepEqual(apply(configured({}), 'one').metadata.labels, { shared: 'yes' });
    assert.equal(apply(configured({}), 'two').metadata.labels, undefined);
  });

  it('merges lists by their keys and removes only its own items', () => {
    const { apply } = filled();
    const withSide = apply(configured(container('side', 'side:v1')), 'other');
    assert.deepEqual(
      withSide.spec?.template.spec?.containers.map(({ name }) => name),
      ['app', 'side'],
    );
    const without = apply(configured({}), 'other');
    assert.deepEqual(
      without.spec?.template.spec?.containers.map(({ name }) => name),
      ['app'],
    );
  });

  it('counts updates with a manager as ownership', () => {
    const { apiServer, apply } = filled();
    const patch = { spec: { minReadySeconds: 5 } };
    apiServer.patch(daemonSets, ref, patch, { type: 'merge', fieldManager: 'hand' });
    assert.throws(
      () => apply(configured({ minReadySeconds: 6 }), 'other'),
      /conflict with "hand" using apps\/v1: .spec.minReadySeconds/,
    );
    assert.equal(apply(configured({ minReadySeconds: 5 }), 'other').spec?.minReadySeconds, 5);
  });

  it('requires a field manager, an apiVersion and a kind', () => {
    const { apiServer, apply } = filled();
    assert.throws(
      () => apply({ metadata: { name: 'web' } }, 'x'),
      (error) => isKubeError(error, 'BadRequest'),
    );
    assert.throws(
      () => apiServer.patch(daemonSets, ref, configured({}), { type: 'apply' }),
      /fieldManager: Required value: is required for apply patch/,
    );
  });
});
