import { isRecord, type Json } from '../../value/index.ts';

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
