import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { customResourceDefinitions as definitions, isKubeError, type Resource } from '../../../src/kube/index.ts';
import { createTestServer } from '../testing/index.ts';

const widgets: Resource = { group: 'test.io', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true };

const openAPIV3Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      'x-kubernetes-validations': [{ rule: 'self.size >= oldSelf.size', message: 'it never shrinks' }],
      properties: { size: { type: 'integer' } },
    },
  },
};

const definition = {
  metadata: { name: 'widgets.test.io' },
  spec: {
    group: 'test.io',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
  },
};

const ref = { namespace: 'default', name: 'w' };

// test/embedded/parity compares what schemas prune, default and refuse with a real API server.
describe('custom resources', () => {
  it('are served and deleted with their definition', () => {
    const { apiServer } = createTestServer();
    assert.throws(
      () => apiServer.list(widgets),
      (error) => isKubeError(error, 'NotFound'),
    );
    apiServer.create<object>(definitions, definition);
    const { status } = apiServer.get<{ status: { conditions: { type: string; status: string }[] } }>(definitions, {
      name: 'widgets.test.io',
    });
    assert.deepEqual(
      status.conditions.map(({ type, status: is }) => `${type} ${is}`),
      ['NamesAccepted True', 'Established True'],
    );
    apiServer.create<object>(widgets, { metadata: ref, spec: { size: 2 } });
    const received: string[] = [];
    apiServer.subscribe(({ type, object }) => received.push(`${type} ${object.metadata.name}`));
    apiServer.delete(definitions, { name: 'widgets.test.io' });
    assert.deepEqual(received, ['DELETED widgets.test.io', 'DELETED w']);
    assert.throws(
      () => apiServer.list(widgets),
      (error) => isKubeError(error, 'NotFound'),
    );
  });

  it('are checked against transition rules only when they are updated', () => {
    const { apiServer } = createTestServer();
    apiServer.create<object>(definitions, definition);
    apiServer.create<object>(widgets, { metadata: ref, spec: { size: 4 } });
    const shrink = { spec: { size: 2 } };
    assert.throws(() => apiServer.patch(widgets, ref, shrink, { type: 'merge' }), /it never shrinks/);
    apiServer.patch(widgets, ref, { spec: { size: 6 } }, { type: 'merge' });
  });
});
