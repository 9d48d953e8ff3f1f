import type { Infer, ObjectOf, Typed } from '../words/index.ts';

/** A JSON Schema (2020-12), as OpenAPI 3.1 uses it. */
export type Schema = Readonly<Record<string, unknown>>;

/** A schema of values of the type `T`. */
export type SchemaOf<T> = Typed<Schema, T>;

/** RFC 3339 in UTC, such as `2026-11-21T17:00:00Z`. */
export type Timestamp = string;

const described = (schema: Schema, description: string | undefined): Schema =>
  description === undefined ? schema : { ...schema, description };

export const integer: SchemaOf<number> = { type: 'integer' };
export const flag: SchemaOf<boolean> = { type: 'boolean' };
/** `Text`: the values of an enumeration that later versions may add to, so that the schema does not list them. */
export const text = <Text extends string = string>(description?: string): SchemaOf<Text> =>
  described({ type: 'string' }, description);
export const time = (description?: string): SchemaOf<Timestamp> =>
  described({ type: 'string', format: 'date-time' }, description);
export const constant = <const Value>(value: Value): SchemaOf<Value> => ({ const: value });
export const oneOf = <const Value extends string>(...values: readonly Value[]): SchemaOf<Value> => ({
  type: 'string',
  enum: values,
});
export const anyOf = <const Each extends readonly Schema[]>(...schemas: Each): SchemaOf<Infer<Each[number]>> => ({
  anyOf: schemas,
});
export const nullable = <T>(schema: SchemaOf<T>): SchemaOf<T | null> => ({ anyOf: [schema, { type: 'null' }] });
export const arrayOf = <T>(items: SchemaOf<T>): SchemaOf<T[]> => ({ type: 'array', items });

/** Properties are required unless they are named in `optional`; there are no others. */
export const object = <Properties extends Record<string, Schema>, Optional extends keyof Properties = never>(
  properties: Properties,
  { optional = [], description }: { optional?: readonly Optional[]; description?: string } = {},
): SchemaOf<ObjectOf<Properties, Optional>> => ({
  type: 'object',
  ...(description === undefined ? {} : { description }),
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name as Optional)),
  additionalProperties: false,
});

/** One of the schemas that the OpenAPI document lists by name. */
export const ref = <T = unknown>(name: string): SchemaOf<T> => ({ $ref: `#/components/schemas/${name}` });
