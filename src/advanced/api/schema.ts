import type { JSONSchemaProps } from 'kubernetes-types/apiextensions/v1.d.ts';

/** A part of a structural schema, with Kubernetes' own marks. */
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

/** A rule in CEL, with the sentence that a person reads when it is broken: what is wrong, and what to do. */
export interface Rule {
  rule: string;
  message: string;
  /** Of the field at fault, below the one that has the rule: `.maxSurge`. */
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

/** Fields beyond the declared ones are kept as they are: another part of Kubernetes judges them. */
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

/** A whole number from 0 on. */
export const counter = (description: string, more: Partial<Schema> = {}): Schema => ({
  type: 'integer',
  format: 'int32',
  minimum: 0,
  description,
  ...more,
});

/** The longest key of a label: a prefix of 253 characters, a slash and a name of 63. */
const KEY_LENGTH = 317;
const VALUE_LENGTH = 63;
/** Bounds what rules over them may cost, far above what anybody sets. */
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
      matchLabels: labelMap('Labels that must be there with these values.'),
      matchExpressions: {
        type: 'array',
        description: 'Conditions on labels; all must hold.',
        maxItems: MOST_LABELS,
        'x-kubernetes-list-type': 'atomic',
        items: withRules(
          object(
            'A condition on one label.',
            {
              key: text('Key of the label.', KEY_LENGTH, { minLength: 1 }),
              operator: {
                type: 'string',
                description: 'How the label is compared.',
                enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
              },
              values: {
                type: 'array',
                description: 'What it is compared with: for In and NotIn at least one, for the others none.',
                maxItems: MOST_LABELS,
                'x-kubernetes-list-type': 'atomic',
                items: text('A value.', VALUE_LENGTH),
              },
            },
            { required: ['key', 'operator'] },
          ),
          {
            rule: "self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 : !has(self.values) || size(self.values) == 0",
            message: 'values belong to In and NotIn: give at least one there, and none with Exists and DoesNotExist',
            fieldPath: '.values',
          },
        ),
      },
    },
    { 'x-kubernetes-map-type': 'atomic' },
  );

/** A CEL text that is true when the selector `selector` accepts the labels that `labels` stands for. */
export const selects = (selector: string, has: string, labels: string): string =>
  [
    `(!has(${selector}.matchLabels) || ${selector}.matchLabels.all(k, ${has} && k in ${labels} && ${labels}[k] == ${selector}.matchLabels[k]))`,
    `(!has(${selector}.matchExpressions) || ${selector}.matchExpressions.all(e, ` +
      `e.operator == 'Exists' ? ${has} && e.key in ${labels} : ` +
      `e.operator == 'DoesNotExist' ? !(${has} && e.key in ${labels}) : ` +
      `e.operator == 'In' ? ${has} && e.key in ${labels} && ${labels}[e.key] in e.values : ` +
      `!(${has} && e.key in ${labels} && ${labels}[e.key] in e.values)))`,
  ].join(' && ');

/** A number from 0 on or a percentage up to 100 %; `least` 1 leaves zero out. */
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
      message: `give a whole number from ${least} on, or a percentage from ${least}% to 100%, such as 3 or "10%"`,
    },
  );
