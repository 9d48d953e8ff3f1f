/** An object as it travels: never changed in place, its parts are shared. */
export type Json = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const NOTHING: Json = Object.freeze({});
const NONE: readonly unknown[] = Object.freeze([]);

/** What is no object reads as an empty one. */
export const recordOf = (value: unknown): Json => (isRecord(value) ? value : NOTHING);
/** What is no list reads as an empty one. */
export const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : NONE);
/** What is no text reads as an empty one. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A text, number or boolean as text; `otherwise` for everything else. */
export const scalarText = (value: unknown, otherwise: string): string => {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : otherwise;
};

/** The value at a path of field names; undefined where the path ends early. */
export const at = (value: unknown, ...path: readonly (string | number)[]): unknown => {
  let here = value;
  for (const step of path) {
    if (typeof step === 'number') here = arrayOf(here)[step];
    else here = isRecord(here) && Object.hasOwn(here, step) ? here[step] : undefined;
  }
  return here;
};

/** A copy without the fields; the object itself when it has none of them. */
export const without = <T extends Json>(value: T, ...fields: readonly string[]): T => {
  if (!fields.some((field) => field in value)) return value;
  // Built anew: an object that fields were deleted from is slow to read ever after.
  const copy: Record<string, unknown> = {};
  for (const name in value) if (!fields.includes(name)) copy[name] = value[name];
  return copy as T;
};

/** A copy in which the value at the path is another one; undefined takes the field away. */
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
 * Equal as the API server compares: what is absent, null and empty is the same. Shared parts cost nothing, so that
 * comparing an object with its successor costs what differs.
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

/** Equal as it is stored: what is empty is not the same as what is absent. */
export const identical = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((each, index) => identical(each, b[index]));
  if (!isRecord(a) || !isRecord(b)) return false;
  for (const key in a) if (a[key] !== b[key] && !identical(a[key], b[key])) return false;
  for (const key in b) if (!(key in a) && b[key] !== undefined) return false;
  return true;
};

/** The object with `extra` underneath: only what it leaves out is filled in. */
export const withDefaultFields = <T extends Json>(object: T, extra: Json): T => {
  for (const key in extra) if (object[key] === undefined) return { ...extra, ...definedOf(object) } as T;
  return object;
};

const definedOf = (object: Json): Json => {
  const copy: Record<string, unknown> = {};
  for (const key in object) if (object[key] !== undefined) copy[key] = object[key];
  return copy;
};

/** The object with one field changed by `change`, where it has that field. */
export const mapField = <T extends Json>(object: T, field: string, change: (value: Json) => Json): T => {
  const value = object[field];
  if (!isRecord(value)) return object;
  const next = change(value);
  return next === value ? object : { ...object, [field]: next };
};

/** The object with each item of a list changed, where it has that list. */
export const mapItems = <T extends Json>(object: T, field: string, change: (item: Json) => Json): T => {
  const items = object[field];
  if (!Array.isArray(items)) return object;
  let changed = false;
  const next = (items as unknown[]).map((item) => {
    if (!isRecord(item)) return item;
    const made = change(item);
    changed ||= made !== item;
    return made;
  });
  return changed ? { ...object, [field]: next } : object;
};
