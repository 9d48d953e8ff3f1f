import type { JSONSchemaProps } from 'kubernetes-types/apiextensions/v1.d.ts';

/** The part of a structural schema that our CRDs use; a subset of JSON Schema, with Kubernetes' marks on lists. */
export interface Schema extends JSONSchemaProps {
  type: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  description: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  'x-kubernetes-list-type'?: 'map' | 'atomic';
  'x-kubernetes-list-map-keys'?: string[];
}

/** A timestamp is at most this long: `2026-03-01T10:00:00.123456789+02:00` and some. */
const TIME_LENGTH = 40;

export const text = (
  description: string,
  maxLength: number,
  more: Pick<JSONSchemaProps, 'format' | 'pattern' | 'minLength'> = {},
): Schema => ({
  type: 'string',
  description,
  maxLength,
  ...more,
});

export const oneOf = (description: string, values: readonly string[]): Schema => ({
  type: 'string',
  description,
  enum: [...values],
});

export const dateTime = (description: string): Schema => text(description, TIME_LENGTH, { format: 'date-time' });

/** A whole number that is never negative. */
export const counter = (description: string, format: 'int32' | 'int64' = 'int32'): Schema => ({
  type: 'integer',
  description,
  format,
  minimum: 0,
});

export const flag = (description: string): Schema => ({ type: 'boolean', description });

/** An object; all of its properties are required but those named `optional`. */
export const object = (
  description: string,
  properties: Record<string, Schema>,
  { optional = [] }: { optional?: readonly string[] } = {},
): Schema => {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', description, properties, ...(required.length > 0 && { required }) };
};

/** A list whose items are told apart by `keys`. */
export const keyedList = (description: string, maxItems: number, keys: readonly string[], items: Schema): Schema => ({
  type: 'array',
  description,
  maxItems,
  items,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': [...keys],
});

/** A list that is only ever replaced as a whole. */
export const atomicList = (description: string, maxItems: number, items: Schema): Schema => ({
  type: 'array',
  description,
  maxItems,
  items,
  'x-kubernetes-list-type': 'atomic',
});
