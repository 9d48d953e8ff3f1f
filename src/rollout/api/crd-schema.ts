import type { JSONSchemaProps } from 'kubernetes-types/apiextensions/v1.d.ts';
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';

/** Metadata of each CRD that ships. Helm keeps CRDs on uninstall, since deleting one deletes all its objects. */
export const crdMetadata = ({ plural, group }: { plural: string; group: string }) =>
  ({
    name: `${plural}.${group}`,
    labels: {
      'app.kubernetes.io/name': 'edgeset',
      'app.kubernetes.io/part-of': 'edgeset',
      'app.kubernetes.io/component': 'crd',
    },
    annotations: { 'helm.sh/resource-policy': 'keep' },
  }) satisfies ObjectMeta;

/** The subset of structural schemas that our CRDs use, including Kubernetes' list types. */
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
