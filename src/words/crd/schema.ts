import type { JSONSchemaProps } from 'kubernetes-types/apiextensions/v1.d.ts';

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

/** The schema with more rules. */
export const withRules = (schema: Schema, ...rules: Rule[]): Schema => ({
  ...schema,
  'x-kubernetes-validations': [...(schema['x-kubernetes-validations'] ?? []), ...rules],
});

/** A timestamp is at most this long: `2026-03-01T10:00:00.123456789+02:00` and some. */
const TIME_LENGTH = 40;

export const text = (
  description: string,
  maxLength: number,
  more: Pick<JSONSchemaProps, 'format' | 'pattern' | 'minLength' | 'default'> = {},
): Schema => ({
  type: 'string',
  description,
  maxLength,
  ...more,
});

export const oneOf = (
  description: string,
  values: readonly string[],
  more: Pick<JSONSchemaProps, 'default'> = {},
): Schema => ({
  type: 'string',
  description,
  enum: [...values],
  ...more,
});

export const dateTime = (description: string): Schema => text(description, TIME_LENGTH, { format: 'date-time' });

/** An integer that is never negative. */
export const counter = (description: string, format: 'int32' | 'int64' = 'int32'): Schema => ({
  type: 'integer',
  description,
  format,
  minimum: 0,
});

export const flag = (description: string): Schema => ({ type: 'boolean', description });

/** An object. All properties are required except those named in `optional`. */
export const object = (
  description: string,
  properties: Record<string, Schema>,
  { optional = [] }: { optional?: readonly string[] } = {},
): Schema => {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', description, properties, ...(required.length > 0 && { required }) };
};

/** A list whose items are identified by `keys`. */
export const keyedList = (description: string, maxItems: number, keys: readonly string[], items: Schema): Schema => ({
  type: 'array',
  description,
  maxItems,
  items,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': [...keys],
});

/** A list that is only replaced as a whole. */
export const atomicList = (description: string, maxItems: number, items: Schema): Schema => ({
  type: 'array',
  description,
  maxItems,
  items,
  'x-kubernetes-list-type': 'atomic',
});
