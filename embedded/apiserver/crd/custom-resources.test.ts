import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isKubeError, type Resource } from '../../../src/kube/index.ts';
import { createTestServer } from '../testing/index.ts';

const definitions: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};
const widgets = (version = 'v1'): Resource => ({
  group: 'test.io',
  version,
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
});

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      'x-kubernetes-validations': [
        { rule: 'self.size % 2 == 0', message: 'sizes are even' },
        { rule: 'self.size >= oldSelf.size', message: 'it never shrinks' },
        {
          rule: "!has(self.share) || type(self.share) == int || self.share.endsWith('%')",
          message: 'a number or percent',
        },
      ],
      properties: {
        size: { type: 'integer', minimum: 0 },
        mode: { type: 'string', enum: ['a', 'b'], default: 'a' },
        share: { 'x-kubernetes-int-or-string': true },
        items: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['key'],
          items: {
            type: 'object',
            required: ['key'],
            properties: { key: { type: 'string' }, n: { type: 'integer', default: 1 } },
          },
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: { type: 'object', properties: { phase: { type: 'string' } } },
  },
};

const version = (name: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  subresources: { status: {} },
  schema: { openAPIV3Schema: schema },
});

const definition = {
  metadata: { name: 'widgets.test.io' },
  spec: {
    group: 'test.io',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets' },
    versions: [version('v1', true), version('v1alpha1', false)],
  },
};

interface Widget {
  apiVersion: string;
  metadata: { generation: number; resourceVersion: string };
  spec: Record<string, unknown>;
  status?: { phase?: string };
}

const filled = () => {
  const { apiServer } = createTestServer();
  apiServer.create<object>(definitions, definition);
  const create = (spec: object, name = 'w', more: object = {}): Widget =>
    apiServer.create<object>(widgets(), { metadata: { namespace: 'default', name }, spec, ...more }) as Widget;
  return { apiServer, create };
};

const ref = { namespace: 'default', name: 'w' };

describe('custom resources', () => {
  it('are served and deleted with their definition', () => {
    const { apiServer } = createTestServer();
    assert.throws(
      () => apiServer.list(widgets()),
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
    apiServer.create<object>(widgets(), { metadata: ref, spec: { size: 2 } });
    const received: string[] = [];
    apiServer.subscribe(({ type, object }) => received.push(`${type} ${object.metadata.name}`));
    apiServer.delete(definitions, { name: 'widgets.test.io' });
    assert.deepEqual(received, ['DELETED widgets.test.io', 'DELETED w']);
    assert.throws(
      () => apiServer.list(widgets()),
      (error) => isKubeError(error, 'NotFound'),
    );
  });

  it('are pruned and defaulted by their schema', () => {
    const { create } = filled();
    const made = create({ size: 2, unknown: 1, items: [{ key: 'x', other: 1 }], free: { any: { thing: 1 } } });
    assert.deepEqual(made.spec, { size: 2, mode: 'a', items: [{ key: 'x', n: 1 }], free: { any: { thing: 1 } } });
  });

  it('are rejected with the path and the reason', () => {
    const { create } = filled();
    for (const [spec, message] of [
      [{}, /spec.size: Required value/],
      [{ size: '2' }, /spec.size in body must be of type integer: "string"/],
      [{ size: -2 }, /spec.size in body should be greater than or equal to 0/],
      [{ size: 2, mode: 'c' }, /spec.mode: Unsupported value: "c": supported values: "a", "b"/],
      [{ size: 2, items: [{ key: 'x' }, { key: 'x' }] }, /spec.items\[1\]: Duplicate value: \{"key":"x"\}/],
      [{ size: 3 }, /spec: Invalid value: "object": sizes are even/],
      [{ size: 2, share: '5' }, /a number or percent/],
    ] as const)
      assert.throws(
        () => create(spec),
        (error) => isKubeError(error, 'Invalid') && message.test(error.message),
      );
    create({ size: 2, share: 5 }, 'number');
    create({ size: 2, share: '5%' }, 'percent');
  });

  it('are checked against transition rules only when they are updated', () => {
    const { apiServer, create } = filled();
    create({ size: 4 });
    const shrink = { spec: { size: 2 } };
    assert.throws(() => apiServer.patch(widgets(), ref, shrink, { type: 'merge' }), /it never shrinks/);
    assert.equal(
      apiServer.patch<Widget>(widgets(), ref, { spec: { size: 6 } }, { type: 'merge' }).metadata.generation,
      2,
    );
  });

  it('update their status only at /status', () => {
    const { apiServer, create } = filled();
    assert.equal(create({ size: 2 }, 'w', { status: { phase: 'x' } }).status, undefined);
    const both = { spec: { size: 4 }, metadata: { labels: { a: 'b' } }, status: { phase: 'y' } };
    const next = apiServer.patch<Widget>(widgets(), ref, both, { type: 'merge', subresource: 'status' });
    assert.deepEqual([next.spec.size, next.status, next.metadata.generation], [2, { phase: 'y' }, 1]);
    assert.equal('labels' in next.metadata, false);
  });

  it('are the same in each version', () => {
    const { apiServer, create } = filled();
    create({ size: 2 });
    const old = apiServer.get<Widget>(widgets('v1alpha1'), ref);
    assert.equal(old.apiVersion, 'test.io/v1alpha1');
    apiServer.update(widgets('v1alpha1'), { ...old, spec: { ...old.spec, size: 8 } });
    const now = apiServer.get<Widget>(widgets(), ref);
    assert.deepEqual([now.apiVersion, now.spec.size], ['test.io/v1', 8]);
  });

  it('require a resourceVersion to be replaced', () => {
    const { apiServer, create } = filled();
    create({ size: 2 });
    const blind = { metadata: ref, spec: { size: 4 } };
    assert.throws(
      () => apiServer.update<object>(widgets(), blind),
      /metadata.resourceVersion: Invalid value: 0: must be specified/,
    );
  });
});
