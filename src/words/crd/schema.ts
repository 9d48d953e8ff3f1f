import type { JSONSchemaProps } from 'kubernetes-types/apiextensions/v1.d.ts';
import type { Infer, ObjectOf, Typed } from '../typed.ts';

/** A CEL validation rule. `message` says what is wrong and how to fix it. */
export interface Rule {
  rule: string;
  message: string;
  /** The field at fault, relative to the field that carries the rule: `.maxSurge`. */
  fieldPath?: string;
  /** The rule also holds for new objects: `oldSelf` is then an optional without a value. */
  optionalOldSelf?: true;
}

/** The subset of structural schemas that our CRDs use, with Kubernetes' extensions. */
export interface Schema extends JSONSchemaProps {
  /** Absent for an integer or a text. */
  type?: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  description: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  'x-kubernetes-int-or-string'?: true;
  'x-kubernetes-list-type'?: 'map' | 'atomic' | 'set';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: 'atomic';
  'x-kubernetes-validations'?: Rule[];
}

/** A schema of values of the type `T`. */
export type SchemaOf<T> = Typed<Schema, T>;

/** The schema with more rules. */
export const withRules = <T>(schema: SchemaOf<T>, ...rules: Rule[]): SchemaOf<T> => ({
  ...schema,
  'x-kubernetes-validations': [...(schema['x-kubernetes-validations'] ?? []), ...rules],
});

/** A timestamp is at most this long: `2026-03-01T10:00:00.123456789+02:00` and some. */
const TIME_LENGTH = 40;

export const text = (
  description: string,
  maxLength: number,
  more: Pick<JSONSchemaProps, 'format' | 'pattern' | 'minLength' | 'default'> = {},
): SchemaOf<string> => ({
  type: 'string',
  description,
  maxLength,
  ...more,
});

export const oneOf = <const Value extends string>(
  description: string,
  values: readonly Value[],
  more: Pick<JSONSchemaProps, 'default'> = {},
): SchemaOf<Value> => ({
  type: 'string',
  description,
  enum: [...values],
  ...more,
});

/** RFC 3339. */
export const dateTime = (description: string): SchemaOf<string> =>
  text(description, TIME_LENGTH, { format: 'date-time' });

/** An integer that is never negative. */
export const counter = (description: string, format: 'int32' | 'int64' = 'int32'): SchemaOf<number> => ({
  type: 'integer',
  description,
  format,
  minimum: 0,
});

export const flag = (description: string): SchemaOf<boolean> => ({ type: 'boolean', description });

/** An object. All properties are required except those named in `optional`. */
export const object = <const Properties extends Record<string, Schema>, Optional extends keyof Properties = never>(
  description: string,
  properties: Properties,
  { optional = [] }: { optional?: readonly Optional[] } = {},
): SchemaOf<ObjectOf<Properties, Optional>> => {
  const required = Object.keys(properties).filter((name) => !optional.includes(name as Optional));
  return { type: 'object', description, properties, ...(required.length > 0 && { required }) };
};

/** A list whose items are identified by `keys`. */
export const keyedList = <Item extends Schema>(
  description: string,
  maxItems: number,
  keys: readonly (keyof Infer<Item> & string)[],
  items: Item,
): SchemaOf<Infer<Item>[]> => ({
  type: 'array',
  description,
  maxItems,
  items,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': [...keys],
});

/** A list that is only replaced as a whole. */
export const atomicList = <Item extends Schema>(
  description: string,
  maxItems: number,
  items: Item,
): SchemaOf<Infer<Item>[]> => ({
  type: 'array',
  description,
  maxItems,
  items,
  'x-kubernetes-list-type': 'atomic',
});
