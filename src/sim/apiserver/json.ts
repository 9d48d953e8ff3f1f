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
