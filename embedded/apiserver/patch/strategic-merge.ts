import { badRequest, goText, unexplained } from '../errors.ts';
import { arrayOf, equal, isRecord, type Json, recordOf } from '../json.ts';
import { anyShape, type Field, type Shape } from '../schema/shape.ts';

const idOf = (item: unknown, key: string | undefined): string =>
  JSON.stringify(key === undefined ? item : isRecord(item) ? item[key] : item);

/**
 * Orders a merged list as the patch asks for. Items that the patch doesn't mention keep their position relative to the
 * current list.
 */
const orderElements = (
  merged: readonly unknown[],
  order: readonly unknown[],
  server: readonly unknown[],
  key: string | undefined,
): unknown[] => {
  const wanted = new Map(order.map((item, index) => [idOf(item, key), index]));
  const places = new Map(server.map((item, index) => [idOf(item, key), index]));
  const known = merged
    .filter((item) => wanted.has(idOf(item, key)))
    .toSorted((a, b) => (wanted.get(idOf(a, key)) ?? 0) - (wanted.get(idOf(b, key)) ?? 0));
  const others = merged.filter((item) => !wanted.has(idOf(item, key)));
  const result: unknown[] = [];
  let next = 0;
  for (const item of known) {
    const place = places.get(idOf(item, key));
    for (let other = others[next]; place !== undefined && next < others.length; other = others[next]) {
      const otherPlace = places.get(idOf(other, key));
      if (otherPlace === undefined || otherPlace > place) break;
      result.push(other);
      next += 1;
    }
    result.push(item);
  }
  return [...result, ...others.slice(next)];
};

const DIRECTIVE = '$patch';
const RETAIN = '$retainKeys';
const DELETE_PRIMITIVES = '$deleteFromPrimitiveList/';
const ORDER = '$setElementOrder/';

const isDirective = (key: string): boolean =>
  key === DIRECTIVE || key === RETAIN || key.startsWith(DELETE_PRIMITIVES) || key.startsWith(ORDER);

/** The value of a patch where there is nothing to merge with: its content without directives. */
const plain = (value: unknown): unknown => {
  if (Array.isArray(value))
    return (value as unknown[])
      .filter((item) => !(isRecord(item) && DIRECTIVE in item && item[DIRECTIVE] !== 'merge'))
      .map(plain);
  if (!isRecord(value)) return value;
  // A directive without a target leaves nothing.
  return DIRECTIVE in value ? {} : settings(value);
};

/** The content of a patch without directives. */
const settings = (value: Json): Json =>
  Object.fromEntries(
    Object.entries(value)
      .filter(([key, item]) => !isDirective(key) && item !== null && item !== undefined)
      .map(([key, item]) => [key, plain(item)]),
  );

const NO_FIELD: Field = { required: false, shape: anyShape, strategies: [], mergeKey: undefined, number: undefined };

const fieldOf = (shape: Shape, name: string): Field => {
  if (shape.form === 'struct') return shape.fields.get(name) ?? NO_FIELD;
  return shape.form === 'map' ? { ...NO_FIELD, shape: shape.of } : NO_FIELD;
};

const itemShape = (shape: Shape): Shape => (shape.form === 'list' ? shape.of : anyShape);

const retain = (target: Json, patch: Json): Json => {
  if (!Array.isArray(patch[RETAIN])) return target;
  const kept = new Set(arrayOf(patch[RETAIN]));
  return Object.fromEntries(Object.entries(target).filter(([key]) => kept.has(key)));
};

const mergeItems = (original: readonly unknown[], patch: readonly unknown[], shape: Shape, key: string): unknown[] => {
  let result = [...original];
  const replaces = patch.some((item) => isRecord(item) && item[DIRECTIVE] === 'replace');
  if (replaces) return patch.filter((item) => !(isRecord(item) && DIRECTIVE in item)).map(plain);
  for (const item of patch) {
    if (!isRecord(item)) throw badRequest('the items of a merged list must be objects');
    const id = item[key];
    if (id === undefined) throw unexplained(`map: ${goText(item)} does not contain declared merge key: ${key}`);
    const index = result.findIndex((each) => isRecord(each) && equal(each[key], id));
    if (item[DIRECTIVE] === 'delete') result = result.filter((each) => !(isRecord(each) && equal(each[key], id)));
    else if (index < 0) result.push(plain(item));
    else result[index] = mergeObject(recordOf(result[index]), item, shape);
  }
  return result;
};

const mergePrimitives = (original: readonly unknown[], patch: readonly unknown[]): unknown[] => [
  ...new Set([...original, ...patch]),
];

/** Merges a list. Items of the patch keep its order. */
const mergeList = (original: readonly unknown[], patch: readonly unknown[], field: Field): unknown[] => {
  const { mergeKey } = field;
  if (mergeKey === undefined) return orderElements(mergePrimitives(original, patch), patch, original, undefined);
  const named = patch.filter((item) => !(isRecord(item) && DIRECTIVE in item));
  return orderElements(mergeItems(original, patch, itemShape(field.shape), mergeKey), named, original, mergeKey);
};

const mergeObject = (original: Json, patch: Json, shape: Shape): Json => {
  switch (patch[DIRECTIVE]) {
    case 'replace':
      return settings(patch);
    case 'delete':
      return {};
    case undefined:
    case null:
      break;
    default:
      throw unexplained(`unknown patch type: ${String(patch[DIRECTIVE])} in map: ${goText(patch)}`);
  }
  const result: Record<string, unknown> = { ...retain(original, patch) };
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith(DELETE_PRIMITIVES)) {
      const name = key.slice(DELETE_PRIMITIVES.length);
      const gone = arrayOf(value);
      if (result[name] !== undefined) result[name] = arrayOf(result[name]).filter((each) => !gone.includes(each));
      continue;
    }
    if (isDirective(key)) continue;
    const field = fieldOf(shape, key);
    const present = result[key];
    if (value === null) delete result[key];
    else if (present === undefined) result[key] = plain(value);
    else if (isRecord(value) && isRecord(present))
      result[key] = field.strategies.includes('replace') ? plain(value) : mergeObject(present, value, field.shape);
    else if (Array.isArray(value) && Array.isArray(present) && field.strategies.includes('merge'))
      result[key] = mergeList(present, value, field);
    else result[key] = plain(value);
  }
  for (const [key, order] of Object.entries(patch)) {
    if (!key.startsWith(ORDER)) continue;
    const name = key.slice(ORDER.length);
    if (result[name] === undefined) continue;
    const { mergeKey } = fieldOf(shape, name);
    result[name] = orderElements(arrayOf(result[name]), arrayOf(order), arrayOf(original[name]), mergeKey);
  }
  return result;
};

/** Applies a strategic merge patch, using the merge keys of the type. */
export const strategicPatch = (present: Json, patch: Json, shape: Shape): Json => mergeObject(present, patch, shape);
