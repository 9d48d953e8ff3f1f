import { memoize } from '../../memoize.ts';
import { arrayOf, at, isRecord, type Json, recordOf, textOf } from '../json.ts';
import type { Kind } from '../registry/kind.ts';
import { definitionOfKind, definitionShape } from './definitions.ts';
import { anyShape, type Field, type ListShape, type ScalarType, type Shape } from './shape.ts';

const scalar = (schema: Json): Shape => {
  if (schema['x-kubernetes-int-or-string'] === true) return { form: 'scalar', type: 'intOrString' };
  const types: Readonly<Record<string, ScalarType>> = {
    string: 'string',
    boolean: 'boolean',
    integer: 'int64',
    number: 'number',
  };
  const type = types[textOf(schema.type)];
  return type === undefined ? anyShape : { form: 'scalar', type };
};

const list = (schema: Json): ListShape => {
  const type = schema['x-kubernetes-list-type'];
  const keys = arrayOf(schema['x-kubernetes-list-map-keys']).map(textOf);
  const items = recordOf(schema.items);
  const keyDefaults = Object.fromEntries(
    keys.flatMap((key) => {
      const value = at(items, 'properties', key, 'default');
      return value === undefined ? [] : [[key, value]];
    }),
  );
  return {
    form: 'list',
    of: shapeOf(items),
    list: type === 'map' || type === 'set' ? type : 'atomic',
    keys,
    keyDefaults,
  };
};

const shapeOf = (schema: Json): Shape => {
  if (schema['x-kubernetes-embedded-resource'] === true) return rootShape(schema);
  if (schema.type === 'array') return list(schema);
  if (schema.type !== 'object') return scalar(schema);
  const atomic = schema['x-kubernetes-map-type'] === 'atomic';
  if (isRecord(schema.properties)) return struct(schema, atomic);
  if (isRecord(schema.additionalProperties)) return { form: 'map', of: shapeOf(schema.additionalProperties), atomic };
  if (schema.additionalProperties === true) return { form: 'map', of: anyShape, atomic };
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return { form: 'map', of: anyShape, atomic };
  return struct(schema, atomic);
};

const fieldOf = (shape: Shape, required: boolean): Field => ({
  required,
  shape,
  strategies: [],
  mergeKey: undefined,
  number: undefined,
});

const struct = (schema: Json, atomic: boolean): Shape => ({
  form: 'struct',
  name: '',
  fields: new Map(
    Object.entries(recordOf(schema.properties)).map(([name, property]) => [
      name,
      fieldOf(shapeOf(recordOf(property)), arrayOf(schema.required).includes(name)),
    ]),
  ),
  atomic,
  open: schema['x-kubernetes-preserve-unknown-fields'] === true,
});

const rootShape = (schema: Json): Shape => {
  const own = struct(schema, false);
  if (own.form !== 'struct') return own;
  const fields = new Map(own.fields);
  const text: Shape = { form: 'scalar', type: 'string' };
  fields.set('apiVersion', fieldOf(text, false));
  fields.set('kind', fieldOf(text, false));
  fields.set('metadata', fieldOf(definitionShape('meta.v1.ObjectMeta'), false));
  return { ...own, fields };
};

/** The shape of a custom resource: its schema, plus the standard metadata. */
const customShape = memoize(rootShape);

/** The shape of a kind's objects. */
export const shapeOfKind = (kind: Pick<Kind, 'definition' | 'custom'>): Shape => {
  if (kind.custom) return customShape(kind.custom.schema);
  const name = kind.definition === undefined ? undefined : definitionOfKind(kind.definition);
  return name === undefined ? anyShape : definitionShape(name);
};
