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

/** The present value with a configuration laid over it, by the shape's rules. */
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

/** True when nothing below is kept by name, so that the thing itself goes. */
const isGone = (set: FieldSet): boolean => Object.keys(set).length === 0 || SELF in set;

/** The value without the fields of the set. */
export const removeFields = (value: unknown, set: FieldSet, shape: Shape): unknown => {
  if (isAtomic(shape)) return undefined;
  if (shape.form === 'list')
    return arrayOf(value).flatMap((item) => {
      const mine = child(set, itemKey(shape, item) ?? '');
      if (mine === undefined) return [item];
      return isGone(mine) ? [] : [removeFields(item, mine, shape.of)];
    });
  if (!isRecord(value)) return value;
  const result: Record<string, unknown> = { ...value };
  for (const [name, part] of Object.entries(value)) {
    const mine = child(set, `f:${name}`);
    if (mine === undefined) continue;
    if (Object.keys(mine).length === 0) {
      delete result[name];
      continue;
    }
    const rest = removeFields(part, mine, partShape(shape, name));
    const isEmpty = (Array.isArray(rest) && rest.length === 0) || (isRecord(rest) && Object.keys(rest).length === 0);
    if (rest === undefined || isEmpty) delete result[name];
    else result[name] = rest;
  }
  return result;
};
