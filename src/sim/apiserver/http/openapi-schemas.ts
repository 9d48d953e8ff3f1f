import type { Kind } from '../registry/index.ts';
import { definitionOfKind, definitionShape, type Field, type ScalarType, type Shape } from '../schema/index.ts';
import type { Json } from '../value/index.ts';
import { customName, publicName } from './openapi-names.ts';

/** Named types that the table writes as one word. */
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

/** The types that a document needs, by their public names. */
export interface Collector {
  readonly schemas: Record<string, Json>;
  /** The schema of a shape; what it refers to is collected. */
  schemaOf(shape: Shape): Json;
  addKind(kind: Kind): void;
}

export const createCollector = (refPrefix: string): Collector => {
  const schemas: Record<string, Json> = {};
  const refTo = (name: string): Json => ({ allOf: [{ $ref: `${refPrefix}${publicName(name)}` }] });

  const fieldSchema = (field: Field): Json => {
    const schema: Record<string, unknown> = { ...schemaOf(field.shape) };
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
    // Types refer to themselves: the place is taken before the fields are looked at.
    schemas[name] = {};
    const required = [...shape.fields].filter(([, field]) => field.required).map(([field]) => field);
    schemas[name] = {
      type: 'object',
      ...(required.length > 0 ? { required } : {}),
      properties: Object.fromEntries([...shape.fields].map(([field, each]) => [field, fieldSchema(each)])),
      ...(shape.atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
      ...extra,
    };
  };

  const schemaOf = (shape: Shape): Json => {
    switch (shape.form) {
      case 'scalar': {
        const named = NAMED[shape.type];
        if (!named) return PLAIN[shape.type] ?? {};
        schemas[publicName(named.name)] = named.schema;
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

  const addCustom = (kind: Kind, schema: Json): void => {
    const metadata = definitionShape('meta.v1.ObjectMeta');
    const { properties } = schema as { properties?: Json };
    schemas[customName(kind.group, kind.version, kind.kind)] = {
      ...schema,
      type: 'object',
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        ...properties,
        metadata: schemaOf(metadata),
      },
      ...gvkOf(kind),
    };
  };

  return {
    schemas,
    schemaOf,
    addKind(kind) {
      if (kind.custom) {
        addCustom(kind, kind.custom.schema);
        return;
      }
      const name = definitionOfKind(kind.definition ?? '');
      const shape = name === undefined ? undefined : definitionShape(name);
      if (shape?.form === 'struct') addStruct(shape, gvkOf(kind));
    },
  };
};

export const schemaName = (kind: Kind): string =>
  kind.custom
    ? customName(kind.group, kind.version, kind.kind)
    : publicName(definitionOfKind(kind.definition ?? '') ?? kind.kind);
