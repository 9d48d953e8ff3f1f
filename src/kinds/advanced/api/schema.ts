import type { Schema as StructuralSchema } from '../../../words/index.ts';

/** Part of a structural schema. OpenKruise's has fields that it does not declare. */
export interface Schema extends StructuralSchema {
  properties?: Record<string, Schema>;
  items?: Schema;
  'x-kubernetes-preserve-unknown-fields'?: true;
}

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
