/** A JSON object, treated as immutable: copies share their parts. */
export type Json = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const NOTHING: Json = Object.freeze({});
const NONE: readonly unknown[] = Object.freeze([]);

/** The object, or an empty one for any other value. */
export const recordOf = (value: unknown): Json => (isRecord(value) ? value : NOTHING);
/** The array, or an empty one for any other value. */
export const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : NONE);
/** The string, or an empty one for any other value. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A string, number or boolean as text; `otherwise` for anything else. */
export const scalarText = (value: unknown, otherwise: string): string => {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : otherwise;
};

/** The value at a path; undefined where the path ends early. */
export const at = (value: unknown, ...path: readonly (string | number)[]): unknown => {
  let here = value;
  for (const step of path) {
    if (typeof step === 'number') here = arrayOf(here)[step];
    else here = isRecord(here) && Object.hasOwn(here, step) ? here[step] : undefined;
  }
  return here;
};

/** A copy without the fields; the object itself if it has none of them. */
export const without = <T extends Json>(value: T, ...fields: readonly string[]): T => {
  if (!fields.some((field) => field in value)) return value;
  // Built from scratch: V8 makes objects with deleted fields slow.
  const copy: Record<string, unknown> = {};
  for (const name in value) if (!fields.includes(name)) copy[name] = value[name];
  return copy as T;
};

/** A copy with another value at the path; undefined removes the field. */
export const withPath = <T extends Json>(object: T, path: readonly string[], value: unknown): T => {
  const [field, ...rest] = path;
  if (field === undefined) return object;
  if (rest.length > 0) {
    if (value === undefined && !isRecord(object[field])) return object;
    return { ...object, [field]: withPath(recordOf(object[field]), rest, value) };
  }
  return value === undefined ? without(object, field) : { ...object, [field]: value };
};

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.values(value).every((each) => each === undefined));

/**
 * Semantic equality: absent, null and empty are equal. Shared parts are skipped, so that comparing an object with its
 * update costs only the difference.
 */
export const equal = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((each, index) => equal(each, b[index]));
  if (isRecord(a) && isRecord(b)) {
    for (const key in a) if (a[key] !== b[key] && !equal(a[key], b[key])) return false;
    for (const key in b) if (!(key in a) && !isNothing(b[key])) return false;
    return true;
  }
  return isNothing(a) && isNothing(b);
};

/** Equality as stored: empty and absent differ. */
export const identical = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((each, index) => identical(each, b[index]));
  if (!isRecord(a) || !isRecord(b)) return false;
  for (const key in a) if (a[key] !== b[key] && !identical(a[key], b[key])) return false;
  for (const key in b) if (!(key in a) && b[key] !== undefined) return false;
  return true;
};

/**
 * The value, with the parts of `stored` where they are identical. A client that sends a whole object back changes little of it:
 * what it shares with the stored object need not be decoded, validated and compared, nor kept twice.
 */
export const sharing = (value: unknown, stored: unknown): unknown => {
  if (value === stored || typeof value !== 'object' || typeof stored !== 'object') return value;
  if (Array.isArray(value))
    return Array.isArray(stored) ? sharingItems(value as unknown[], stored as unknown[]) : value;
  if (!isRecord(value) || !isRecord(stored)) return value;
  let same = true;
  let copy: Record<string, unknown> | undefined;
  for (const key in value) {
    const part = sharing(value[key], stored[key]);
    if (part !== stored[key]) same = false;
    if (part !== value[key]) (copy ??= { ...value })[key] = part;
  }
  for (const key in stored) if (!(key in value)) same = false;
  return same ? stored : (copy ?? value);
};

const sharingItems = (items: readonly unknown[], stored: readonly unknown[]): readonly unknown[] => {
  const shared = items.map((item, index) => sharing(item, stored[index]));
  if (items.length === stored.length && shared.every((item, index) => item === stored[index])) return stored;
  return shared.some((item, index) => item !== items[index]) ? shared : items;
};

/** The object with `extra` for the fields that it leaves undefined. */
export const withDefaultFields = <T extends Json>(object: T, extra: Json): T => {
  for (const key in extra) if (object[key] === undefined) return { ...extra, ...definedOf(object) } as T;
  return object;
};

const definedOf = (object: Json): Json => {
  const copy: Record<string, unknown> = {};
  for (const key in object) if (object[key] !== undefined) copy[key] = object[key];
  return copy;
};

/** A copy with one object field changed, if the object has that field. */
export const mapField = <T extends Json>(object: T, field: string, change: (value: Json) => Json): T => {
  const value = object[field];
  if (!isRecord(value)) return object;
  const next = change(value);
  return next === value ? object : { ...object, [field]: next };
};

/** The list with each item changed; the list itself if none is. */
export const mapList = (items: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] => {
  const next = items.map(change);
  return next.some((item, index) => item !== items[index]) ? next : items;
};

/** A copy with each object item of a list changed, if the object has that list. */
export const mapItems = <T extends Json>(object: T, field: string, change: (item: Json) => Json): T => {
  const items = object[field];
  if (!Array.isArray(items)) return object;
  const next = mapList(items, (item) => (isRecord(item) ? change(item) : item));
  return next === items ? object : { ...object, [field]: next };
};
