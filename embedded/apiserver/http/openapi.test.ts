import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Kind } from '../registry/kind.ts';
import { createRegistry } from '../registry/registry.ts';
import { serveOpenApi } from './openapi.ts';
import { bytesOf, wireFields } from './protobuf.ts';

const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

const parts = (message: Uint8Array, number: number): Uint8Array[] =>
  [...wireFields(message)].flatMap((field) => (field.number === number ? [bytesOf(field.value)] : []));
const texts = (message: Uint8Array, number: number): string[] =>
  parts(message, number).map((part) => Buffer.from(part).toString());
const named = (messages: readonly Uint8Array[]): ReadonlyMap<string, Uint8Array> =>
  new Map(messages.map((message) => [texts(message, 1)[0] ?? '', parts(message, 2)[0] ?? new Uint8Array()]));

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

  it('has a form in protobuf, which kubectl asks for', () => {
    const response = serveOpenApi(createRegistry(), '/openapi/v2', PROTOBUF);
    assert.equal(response.is, 'bytes');
    const models = named(parts(Buffer.from(response.body), 9).flatMap((all) => parts(all, 1)));
    assert.deepEqual([...models.keys()], Object.keys(definitions()));
    const spec = models.get('io.k8s.api.core.v1.PodSpec') ?? new Uint8Array();
    assert.deepEqual(texts(spec, 19), ['containers']);
    const fields = named(parts(spec, 25).flatMap((all) => parts(all, 1)));
    const containers = fields.get('containers') ?? new Uint8Array();
    assert.deepEqual(
      parts(containers, 22).flatMap((type) => texts(type, 1)),
      ['array'],
    );
    assert.deepEqual(
      parts(containers, 23).flatMap((items) => parts(items, 1).flatMap((item) => texts(item, 1))),
      ['#/definitions/io.k8s.api.core.v1.Container'],
    );
    const extensions = named(parts(containers, 31));
    assert.deepEqual(texts(extensions.get('x-kubernetes-patch-merge-key') ?? new Uint8Array(), 2), ['"name"']);
  });

  it('says in version 2 that any value is allowed where a custom resource has alternatives or null', () => {
    const registry = createRegistry();
    const schema = {
      type: 'object',
      required: ['maybe', 'sure'],
      properties: {
        maybe: { type: 'array', nullable: true, items: { type: 'string' } },
        sure: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        open: { type: 'object', properties: {}, 'x-kubernetes-preserve-unknown-fields': true },
      },
    };
    const kind = { group: 'x.io', version: 'v1', kind: 'X', plural: 'xs', custom: { crdUid: 'u', schema } };
    registry.setCustom('xs.x.io', [kind as unknown as Kind]);
    const { properties, required } = definitions(registry)['io.x.v1.X'] as Schema & { required: string[] };
    assert.deepEqual(required, ['sure']);
    assert.deepEqual(properties?.maybe, {});
    assert.deepEqual(properties?.sure, { 'x-kubernetes-int-or-string': true });
    assert.deepEqual(properties?.open, { 'x-kubernetes-preserve-unknown-fields': true });
  });
});
