import type { JSONSchemaProps } from 'kubernetes-types/apiextensions/v1.d.ts';

/** Part of a structural schema, with the Kubernetes extensions. */
export interface Schema extends JSONSchemaProps {
  description: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  'x-kubernetes-int-or-string'?: true;
  'x-kubernetes-list-type'?: 'map' | 'atomic';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: 'atomic';
  'x-kubernetes-preserve-unknown-fields'?: true;
  'x-kubernetes-validations'?: Rule[];
}

/** A CEL validation rule. `message` says what is wrong and how to fix it. */
export interface Rule {
  rule: string;
  message: string;
  /** The field at fault, relative to the field that carries the rule: `.maxSurge`. */
  fieldPath?: string;
}

export const withRules = (schema: Schema, ...rules: Rule[]): Schema => ({
  ...schema,
  'x-kubernetes-validations': rules,
});

export const object = (
  description: string,
  properties: Record<string, Schema>,
  more: Partial<Schema> = {},
): Schema => ({
  type: 'object',
  description,
  properties,
  ...more,
});

/** Keeps undeclared fields: the API server validates them as part of a pod. */
export const openObject = (
  description: string,
  properties: Record<string, Schema>,
  more: Partial<Schema> = {},
): Schema => ({
  ...object(description, properties, more),
  'x-kubernetes-preserve-unknown-fields': true,
});

export const text = (description: string, maxLength: number, more: Partial<Schema> = {}): Schema => ({
  type: 'string',
  description,
  maxLength,
  ...more,
});

export const flag = (description: string): Schema => ({ type: 'boolean', description, default: false });

/** A non-negative integer. */
export const counter = (description: string, more: Partial<Schema> = {}): Schema => ({
  type: 'integer',
  format: 'int32',
  minimum: 0,
  description,
  ...more,
});

/** Longest label key: a prefix of 253 characters, a slash and a name of 63. */
const KEY_LENGTH = 317;
const VALUE_LENGTH = 63;
/** Bounds the cost of CEL rules, far above any real use. */
const MOST_LABELS = 64;

export const labelMap = (description: string): Schema => ({
  type: 'object',
  description,
  maxProperties: MOST_LABELS,
  additionalProperties: { type: 'string', maxLength: VALUE_LENGTH },
});

export const labelSelector = (description: string): Schema =>
  object(
    description,
    {
      matchLabels: labelMap('Labels that must be present with these values.'),
      matchExpressions: {
        type: 'array',
        description: 'Requirements on labels. All of them must be met.',
        maxItems: MOST_LABELS,
        'x-kubernetes-list-type': 'atomic',
        items: withRules(
          object(
            'A requirement on one label.',
            {
              key: text('Key of the label.', KEY_LENGTH, { minLength: 1 }),
              operator: {
                type: 'string',
                description: 'Relation between the key and the values.',
                enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
              },
              values: {
                type: 'array',
                description: 'Values to compare with: at least one for In and NotIn, none for the other operators.',
                maxItems: MOST_LABELS,
                'x-kubernetes-list-type': 'atomic',
                items: text('A value.', VALUE_LENGTH),
              },
            },
            { required: ['key', 'operator'] },
          ),
          {
            rule: "self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 : !has(self.values) || size(self.values) == 0",
            message: 'In and NotIn need at least one value, Exists and DoesNotExist take none',
            fieldPath: '.values',
          },
        ),
      },
    },
    { 'x-kubernetes-map-type': 'atomic' },
  );

/** A CEL expression that is true when `selector` matches `labels`; `has` tests that the labels are present. */
export const selects = (selector: string, has: string, labels: string): string =>
  [
    `(!has(${selector}.matchLabels) || ${selector}.matchLabels.all(k, ${has} && k in ${labels} && ${labels}[k] == ${selector}.matchLabels[k]))`,
    `(!has(${selector}.matchExpressions) || ${selector}.matchExpressions.all(e, ` +
      `e.operator == 'Exists' ? ${has} && e.key in ${labels} : ` +
      `e.operator == 'DoesNotExist' ? !(${has} && e.key in ${labels}) : ` +
      `e.operator == 'In' ? ${has} && e.key in ${labels} && ${labels}[e.key] in e.values : ` +
      `!(${has} && e.key in ${labels} && ${labels}[e.key] in e.values)))`,
  ].join(' && ');

/** A non-negative integer or a percentage up to 100%. With `least` 1, zero is refused. */
export const intOrPercent = (description: string, least: 0 | 1, more: Partial<Schema> = {}): Schema =>
  withRules(
    {
      description,
      'x-kubernetes-int-or-string': true,
      maxLength: 8,
      ...more,
    },
    {
      rule: `type(self) == int ? self >= ${least} : self.matches('^(${least === 0 ? '0|' : ''}[1-9][0-9]?|100)%$')`,
      message: `must be an integer of at least ${least} or a percentage from ${least}% to 100%, such as 3 or "10%"`,
    },
  );
