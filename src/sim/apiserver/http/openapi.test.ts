import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Kind } from '../registry/kind.ts';
import { createRegistry } from '../registry/registry.ts';
import { serveOpenApi } from './openapi.ts';

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const definitions = (registry = createRegistry()): Readonly<Record<string, Schema>> => {
  const response = serveOpenApi(registry, '/openapi/v2', 'application/json');
  assert.equal(response.is, 'json');
  return (response.body as { definitions: Record<string, Schema> }).definitions;
};

describe('the OpenAPI document', () => {
  it('describes all built-in types and fields that Kubernetes describes', () => {
    const bare = Object.entries(definitions()).flatMap(([name, { description, properties = {} }]) => [
      ...(description === undefined ? [name] : []),
      ...Object.entries(properties).flatMap(([field, each]) =>
        each.description === undefined ? [`${name}.${field}`] : [],
      ),
    ]);
    // Kubernetes leaves the parts of a JSON schema without descriptions.
    assert.deepEqual(
      bare.filter((name) => !/\.(JSONSchemaProps|ExternalDocumentation)\./.test(name)),
      [],
    );
  });

  it('keeps the paragraphs of a description', () => {
    const { properties = {} } = definitions()['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'] ?? {};
    assert.match(
      properties.creationTimestamp?.description ?? '',
      /^CreationTimestamp [^\n*]+\.\n\nPopulated by[^\n*]+$/,
    );
  });

  it('describes the metadata of custom resources, and keeps what their CRD says', () => {
    const registry = createRegistry();
    const kind = {
      group: 'test.edgeset.io',
      version: 'v1',
      kind: 'Widget',
      plural: 'widgets',
      custom: {
        crdUid: 'u',
        schema: {
          description: 'A widget.',
          properties: { spec: { description: 'Wanted.' }, kind: { type: 'string' } },
        },
      },
    } as unknown as Kind;
    registry.setCustom('widgets.test.edgeset.io', [kind]);
    const { description, properties = {} } = definitions(registry)['io.edgeset.test.v1.Widget'] ?? {};
    assert.equal(description, 'A widget.');
    assert.equal(properties.spec?.description, 'Wanted.');
    assert.match(properties.kind?.description ?? '', /^Kind is a string/);
    assert.match(properties.metadata?.description ?? '', /^Standard object's metadata/);
  });
});
