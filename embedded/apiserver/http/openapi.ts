import { createHash } from 'node:crypto';
import { noResource, StatusError } from '../errors.ts';
import { arrayOf, isRecord, type Json, textOf, without } from '../json.ts';
import { apiVersionOf, type Kind } from '../registry/kind.ts';
import type { Registry } from '../registry/registry.ts';
import { definitionOfKind, definitionShape } from '../schema/definitions.ts';
import { descriptionOf } from '../schema/descriptions.ts';
import { shapeOfKind } from '../schema/kind-shape.ts';
import type { Field, ScalarType, Shape } from '../schema/shape.ts';
import { json, type Response } from './exchange.ts';
import { documentInProtobuf } from './openapi-protobuf.ts';

const PREFIXES: Readonly<Record<string, string>> = {
  meta: 'io.k8s.apimachinery.pkg.apis.',
  apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis.',
  util: 'io.k8s.apimachinery.pkg.',
  api: 'io.k8s.apimachinery.pkg.',
};

/** The public OpenAPI name of a built-in type. */
const publicName = (name: string): string => {
  const [head = ''] = name.split('.', 1);
  return `${PREFIXES[head] ?? 'io.k8s.api.'}${name}`;
};

/** The OpenAPI name of a custom resource: reversed group, version, kind. */
const customName = (group: string, version: string, kind: string): string =>
  `${group.split('.').toReversed().join('.')}.${version}.${kind}`;

/** Scalars that OpenAPI publishes as named types. */
const NAMED: Partial<Record<ScalarType, { name: string; schema: Json }>> = {
  time: { name: 'meta.v1.Time', schema: { type: 'string', format: 'date-time' } },
  microTime: { name: 'meta.v1.MicroTime', schema: { type: 'string', format: 'date-time' } },
  quantity: { name: 'api.resource.Quantity', schema: { oneOf: [{ type: 'string' }, { type: 'number' }] } },
  intOrString: {
    name: 'util.intstr.IntOrString',
    schema: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  },
};

const PLAIN: Partial<Record<ScalarType, Json>> = {
  string: { type: 'string', default: '' },
  boolean: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  number: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};

const described = (type: string, field?: string): Json => {
  const description = descriptionOf(type, field);
  return description === undefined ? {} : { description };
};

const mapValues = (object: Json, change: (value: Json) => Json): Json =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, isRecord(value) ? change(value) : value]));

/** In what the two versions of OpenAPI differ. */
interface Forms {
  readonly refPrefix: string;
  reference(path: string): Json;
  /** A named scalar. */
  value(schema: Json): Json;
  /** The schema of a custom resource. */
  custom(schema: Json): Json;
}

const V3: Forms = {
  refPrefix: '#/components/schemas/',
  reference: (path) => ({ allOf: [{ $ref: path }] }),
  value: (schema) => schema,
  custom: (schema) => schema,
};

/** Version 2 has no null and no alternatives, and kubectl rejects items and properties where any value is allowed. */
const withoutAlternatives = (schema: Json): Json => {
  const anything = schema.nullable === true;
  const unknown = anything || schema['x-kubernetes-preserve-unknown-fields'] === true;
  let plain = without(
    schema,
    'allOf',
    'oneOf',
    'anyOf',
    'not',
    'nullable',
    ...(unknown ? ['items', 'properties'] : []),
  );
  const { type, properties, items, additionalProperties } = plain;
  if (anything || (unknown && type === 'object') || (type === 'array' && items === undefined))
    plain = without(plain, 'type');
  const nullable = (part: unknown): boolean => isRecord(part) && part.nullable === true;
  return {
    ...plain,
    ...(isRecord(properties) && {
      properties: mapValues(properties, withoutAlternatives),
      required: arrayOf(plain.required).filter((name) => !nullable(properties[textOf(name)])),
    }),
    ...(isRecord(items) && { items: withoutAlternatives(items) }),
    ...(isRecord(additionalProperties) && { additionalProperties: withoutAlternatives(additionalProperties) }),
  };
};

const V2: Forms = {
  refPrefix: '#/definitions/',
  reference: (path) => ({ $ref: path }),
  value: (schema) => ({ type: 'string', ...without(schema, 'oneOf') }),
  custom: withoutAlternatives,
};

/** The schemas of the kinds, and of all types that they refer to, by their public names. */
const schemasOf = (kinds: readonly Kind[], forms: Forms): Json => {
  const schemas: Record<string, Json> = {};
  const refTo = (name: string): Json => forms.reference(`${forms.refPrefix}${publicName(name)}`);

  const fieldSchema = (type: string, name: string, field: Field): Json => {
    const schema: Record<string, unknown> = { ...described(type, name), ...schemaOf(field.shape) };
    if (field.strategies.length > 0) schema['x-kubernetes-patch-strategy'] = field.strategies.join(',');
    if (field.mergeKey !== undefined) schema['x-kubernetes-patch-merge-key'] = field.mergeKey;
    if (field.shape.form === 'list') {
      schema['x-kubernetes-list-type'] = field.shape.list;
      if (field.shape.keys.length > 0) schema['x-kubernetes-list-map-keys'] = field.shape.keys;
    }
    return schema;
  };

  const addStruct = (shape: Shape & { form: 'struct' }, extra: Json = {}): void => {
    const name = publicName(shape.name);
    if (schemas[name]) return;
    // Types are recursive: register the name before visiting the fields.
    schemas[name] = {};
    const required = [...shape.fields].filter(([, field]) => field.required).map(([field]) => field);
    schemas[name] = {
      ...described(shape.name),
      type: 'object',
      ...(required.length > 0 ? { required } : {}),
      properties: Object.fromEntries(
        [...shape.fields].map(([field, each]) => [field, fieldSchema(shape.name, field, each)]),
      ),
      ...(shape.atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
      ...extra,
    };
  };

  const schemaOf = (shape: Shape): Json => {
    switch (shape.form) {
      case 'scalar': {
        const named = NAMED[shape.type];
        if (!named) return PLAIN[shape.type] ?? {};
        schemas[publicName(named.name)] ??= { ...described(named.name), ...forms.value(named.schema) };
        return refTo(named.name);
      }
      case 'struct':
        addStruct(shape);
        return refTo(shape.name);
      case 'map':
        return { type: 'object', additionalProperties: schemaOf(shape.of) };
      case 'list':
        return { type: 'array', items: schemaOf(shape.of) };
      case 'any':
        return { type: 'object' };
    }
  };

  const gvkOf = ({ group, version, kind }: Kind): Json => ({
    'x-kubernetes-group-version-kind': [{ group, kind, version }],
  });

  /** The schema of a field that all kinds have. */
  const memberOfAny = (name: string): Json => {
    const pod = definitionShape('core.v1.Pod');
    const field = pod.form === 'struct' ? pod.fields.get(name) : undefined;
    return field ? fieldSchema('core.v1.Pod', name, field) : {};
  };

  const addCustom = (kind: Kind, given: Json): void => {
    const schema = forms.custom(given);
    const { properties } = schema as { properties?: Json };
    schemas[customName(kind.group, kind.version, kind.kind)] = {
      ...schema,
      type: 'object',
      properties: {
        ...properties,
        // As for its own kinds, whatever the CRD says of them.
        apiVersion: memberOfAny('apiVersion'),
        kind: memberOfAny('kind'),
        metadata: memberOfAny('metadata'),
      },
      ...gvkOf(kind),
    };
  };

  for (const kind of kinds) {
    const shape = shapeOfKind(kind);
    if (kind.custom) addCustom(kind, kind.custom.schema);
    else if (shape.form === 'struct') addStruct(shape, gvkOf(kind));
  }
  return schemas;
};

const schemaName = (kind: Kind): string =>
  kind.custom
    ? customName(kind.group, kind.version, kind.kind)
    : publicName(definitionOfKind(kind.definition ?? '') ?? kind.kind);

const groupVersionPath = ({ group, version }: Pick<Kind, 'group' | 'version'>): string =>
  group === '' ? `api/${version}` : `apis/${apiVersionOf({ group, version })}`;

const parameter = (name: string): Json => ({ name, in: 'query', schema: { type: 'string', uniqueItems: true } });

// kubectl relies on server-side field validation only if this parameter is published.
const WRITE_PARAMETERS = ['dryRun', 'fieldManager', 'fieldValidation'].map(parameter);

const operation = (kind: Kind, action: string, ref: string, write: boolean): Json => ({
  'x-kubernetes-action': action,
  'x-kubernetes-group-version-kind': { group: kind.group, version: kind.version, kind: kind.kind },
  ...(write ? { parameters: WRITE_PARAMETERS } : {}),
  responses: { 200: { description: 'OK', content: { 'application/json': { schema: { $ref: ref } } } } },
});

const pathsOf = (kind: Kind, ref: string): Json => {
  const base = `/${groupVersionPath(kind)}/${kind.namespaced ? 'namespaces/{namespace}/' : ''}${kind.plural}`;
  return {
    [base]: { get: operation(kind, 'list', ref, false), post: operation(kind, 'post', ref, true) },
    [`${base}/{name}`]: {
      get: operation(kind, 'get', ref, false),
      put: operation(kind, 'put', ref, true),
      patch: operation(kind, 'patch', ref, true),
      delete: operation(kind, 'delete', ref, false),
    },
  };
};

const info = { title: 'Kubernetes', version: 'v1.34.4' };

/** The OpenAPI document of one group and version. */
const documentV3 = (kinds: readonly Kind[]): Json => ({
  openapi: '3.0.0',
  info,
  paths: Object.assign({}, ...kinds.map((kind) => pathsOf(kind, `${V3.refPrefix}${schemaName(kind)}`))) as Json,
  components: { schemas: schemasOf(kinds, V3) },
});

/** The OpenAPI v2 document of all kinds. */
const documentV2 = (kinds: readonly Kind[]): Json => ({
  swagger: '2.0',
  info,
  paths: {},
  definitions: schemasOf(kinds, V2),
});

/** A hash of the document's content: built-in types never change, custom ones change with their CRD. */
const hashOf = (kinds: readonly Kind[]): string =>
  createHash('sha256')
    .update(JSON.stringify(kinds.map(({ plural, custom }) => [plural, custom?.crdUid, custom?.schema])))
    .digest('hex')
    .toUpperCase();

const index = (registry: Registry): Json => {
  const roots = Map.groupBy(registry.kinds, groupVersionPath);
  return {
    paths: Object.fromEntries(
      [...roots].map(([root, kinds]) => [root, { serverRelativeURL: `/openapi/v3/${root}?hash=${hashOf(kinds)}` }]),
    ),
  };
};

const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const OLD_FORMS = `only the following media types are accepted: application/json, ${PROTOBUF}`;

const serveV2 = (registry: Registry, accept: string): Response => {
  const document = documentV2(registry.kinds);
  if (accept === '' || accept.includes('application/json') || accept.includes('*/*')) return json(document);
  if (!accept.includes(PROTOBUF)) throw new StatusError('NotAcceptable', OLD_FORMS);
  return { is: 'bytes', status: 200, body: documentInProtobuf(document), contentType: PROTOBUF.replace('@', '.') };
};

/** Serves `/openapi/v2`, `/openapi/v3` and the documents that the latter lists. */
export const serveOpenApi = (registry: Registry, path: string, accept: string): Response => {
  if (path === '/openapi/v2') return serveV2(registry, accept);
  if (path === '/openapi/v3') return json(index(registry));
  const root = path.slice('/openapi/v3/'.length);
  const kinds = registry.kinds.filter((kind) => groupVersionPath(kind) === root);
  if (kinds.length === 0) throw noResource();
  return json(documentV3(kinds));
};
