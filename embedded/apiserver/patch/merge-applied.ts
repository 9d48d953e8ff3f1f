import { arrayOf, isRecord } from '../json.ts';
import type { ListShape, Shape } from '../schema/shape.ts';
import { child, type FieldSet, isAtomic, itemKey, SELF } from './field-set.ts';

const partShape = (shape: Shape, name: string): Shape => {
  if (shape.form === 'struct') return shape.fields.get(name)?.shape ?? { form: 'any' };
  return shape.form === 'map' ? shape.of : { form: 'any' };
};

const mergeLists = (present: readonly unknown[], config: readonly unknown[], shape: ListShape): unknown[] => {
  const wanted = new Map(config.map((item) => [itemKey(shape, item), item]));
  const had = new Set(present.map((item) => itemKey(shape, item)));
  const merged = present.map((item) => {
    const step = itemKey(shape, item);
    return wanted.has(step) ? mergeApplied(item, wanted.get(step), shape.of) : item;
  });
  return [...merged, ...config.filter((item) => !had.has(itemKey(shape, item)))];
};

/** Merges an applied configuration into the current value, by its shape. */
export const mergeApplied = (present: unknown, config: unknown, shape: Shape): unknown => {
  if (config === undefined || config === null) return present;
  if (present === undefined || present === null || isAtomic(shape)) return config;
  if (shape.form === 'list')
    return Array.isArray(config) && Array.isArray(present) ? mergeLists(present, config, shape) : config;
  if (!isRecord(present) || !isRecord(config)) return config;
  const result: Record<string, unknown> = { ...present };
  for (const [name, value] of Object.entries(config)) {
    if (value !== undefined) result[name] = mergeApplied(present[name], value, partShape(shape, name));
  }
  return result;
};

/** Whether the set covers the item as a whole. */
const isGone = (set: FieldSet): boolean => Object.keys(set).length === 0 || SELF in set;

export const removeFields = (value: unknown, set: FieldSet, shape: Shape): unknown => {
  if (isAtomic(shape)) return undefined;
  if (shape.form === 'list')
    return arrayOf(value).flatMap((item) => {
      const own = child(set, itemKey(shape, item) ?? '');
      if (own === undefined) return [item];
      return isGone(own) ? [] : [removeFields(item, own, shape.of)];
    });
  if (!isRecord(value)) return value;
  const result: Record<string, unknown> = { ...value };
  for (const [name, part] of Object.entries(value)) {
    const own = child(set, `f:${name}`);
    if (own === undefined) continue;
    if (Object.keys(own).length === 0) {
      delete result[name];
      continue;
    }
    const rest = removeFields(part, own, partShape(shape, name));
    const isEmpty = (Array.isArray(rest) && rest.length === 0) || (isRecord(rest) && Object.keys(rest).length === 0);
    if (rest === undefined || isEmpty) delete result[name];
    else result[name] = rest;
  }
  return result;
};
