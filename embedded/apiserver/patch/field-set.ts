import { arrayOf, isRecord, type Json } from '../json.ts';
import type { ListShape, Shape } from '../schema/shape.ts';

/**
 * A set of fields in the format of `managedFields`: `f:name`, `k:{keys}`, `v:value`, and `.` for the item itself. An
 * empty record is a leaf.
 */
export type FieldSet = Readonly<Record<string, unknown>>;

export const SELF = '.';
const LEAF: FieldSet = Object.freeze({});

export const child = (set: FieldSet | undefined, step: string): FieldSet | undefined => {
  const found = set?.[step];
  return isRecord(found) ? found : undefined;
};

const isLeaf = (set: FieldSet): boolean => Object.keys(set).length === 0;

/** The path element of a list item; undefined if the items have no keys. */
export const itemKey = (shape: ListShape, item: unknown): string | undefined => {
  if (shape.list === 'set') return `v:${JSON.stringify(item)}`;
  if (shape.list !== 'map' || !isRecord(item)) return undefined;
  const keys: Record<string, unknown> = {};
  for (const key of shape.keys.toSorted()) {
    const value = item[key] ?? shape.keyDefaults[key];
    if (value !== undefined) keys[key] = value;
  }
  return `k:${JSON.stringify(keys)}`;
};

/** Whether a value of this shape is owned as a whole. */
export const isAtomic = (shape: Shape): boolean =>
  shape.form === 'scalar' || shape.form === 'any' || (shape.form === 'list' ? shape.list === 'atomic' : shape.atomic);

/** The path elements below a value with their values; undefined if the value is owned as a whole. */
export const parts = (value: unknown, shape: Shape): [step: string, value: unknown, shape: Shape][] | undefined => {
  if (isAtomic(shape)) return undefined;
  if (shape.form === 'list') {
    return arrayOf(value).flatMap((item) => {
      const step = itemKey(shape, item);
      return step === undefined ? [] : [[step, item, shape.of] as [string, unknown, Shape]];
    });
  }
  if (!isRecord(value)) return undefined;
  const found: [string, unknown, Shape][] = [];
  for (const [name, part] of Object.entries(value)) {
    if (part === undefined) continue;
    if (shape.form === 'map') found.push([`f:${name}`, part, shape.of]);
    else if (shape.form === 'struct') {
      const field = shape.fields.get(name);
      found.push([`f:${name}`, part, field?.shape ?? { form: 'any' }]);
    }
  }
  return found;
};

/** List items and map entries are members of their own; struct fields are not. */
const hasMembers = (shape: Shape): boolean => shape.form === 'list' || shape.form === 'map';

export const fieldsOf = (value: unknown, shape: Shape): FieldSet => {
  const below = parts(value, shape);
  if (!below || below.length === 0) return LEAF;
  const set: Record<string, unknown> = {};
  for (const [step, part, partShape] of below) {
    const inner = fieldsOf(part, partShape);
    set[step] = hasMembers(shape) && !isLeaf(inner) ? { [SELF]: LEAF, ...inner } : inner;
  }
  return set;
};

/** The union of two sets. The empty set is undefined, or a record without elements. */
export const union = (a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined => {
  if (a === undefined || isLeaf(a)) return b;
  return b === undefined || isLeaf(b) ? a : unite(a, b);
};

const unite = (a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined => {
  if (a === undefined || a === b) return b;
  if (b === undefined) return a;
  if (isLeaf(a) !== isLeaf(b)) {
    const inner = isLeaf(a) ? b : a;
    return SELF in inner ? inner : { [SELF]: LEAF, ...inner };
  }
  let merged: Record<string, unknown> | undefined;
  for (const step of Object.keys(b)) {
    const next = unite(child(a, step), child(b, step));
    if (next !== a[step]) (merged ??= { ...a })[step] = next;
  }
  return merged ?? a;
};

/** The fields of `a` that aren't in `b`: a field of `b` doesn't cover those below it. Undefined when empty. */
export const difference = (a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined =>
  b === undefined || isLeaf(b) ? a : subtract(a, b);

const subtract = (a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined => {
  if (a === undefined || b === undefined) return a;
  if (isLeaf(a)) return isLeaf(b) || SELF in b ? undefined : a;
  const left: Record<string, unknown> = {};
  for (const step of Object.keys(a)) {
    const own = child(a, step);
    const rest = step === SELF ? (isLeaf(b) || SELF in b ? undefined : own) : subtract(own, child(b, step));
    if (rest !== undefined) left[step] = rest;
  }
  const steps = Object.keys(left);
  if (steps.length === 0) return undefined;
  return steps.length === 1 && SELF in left ? LEAF : left;
};

const KINDS = ['f:', 'k:', 'v:'];

/** Orders fields before keys before values, each by name. */
const byStep = (a: string, b: string): number => {
  const kind = KINDS.indexOf(a.slice(0, 2)) - KINDS.indexOf(b.slice(0, 2));
  return kind === 0 ? (a < b ? -1 : 1) : kind;
};

/** The paths in both sets, in the real server's order: at each level, members before their descendants. */
export const commonPaths = (a: FieldSet | undefined, b: FieldSet | undefined, path: string[] = []): string[][] => {
  if (a === undefined || b === undefined) return [];
  const shared = Object.keys(a)
    .filter((step) => step !== SELF && step in b)
    .toSorted(byStep);
  const members: string[][] = [];
  const descendants: string[][] = [];
  for (const step of shared) {
    const here = [...path, step];
    const own = child(a, step);
    const other = child(b, step);
    if (isMember(own) && isMember(other)) members.push(here);
    descendants.push(...commonPaths(own, other, here));
  }
  return [...members, ...descendants];
};

const isMember = (set: FieldSet | undefined): boolean => set !== undefined && (isLeaf(set) || SELF in set);

/** A path in the format of conflict messages: `.spec.containers[name="app"].image`. */
export const formatPath = (path: readonly string[]): string =>
  path
    .map((step) => {
      const rest = step.slice(2);
      if (step.startsWith('f:')) return `.${rest}`;
      if (step.startsWith('v:')) return `[=${rest}]`;
      const keys = JSON.parse(rest) as Json;
      return `[${Object.entries(keys)
        .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
        .join(',')}]`;
    })
    .join('');
