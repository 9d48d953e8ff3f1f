import { isRecord, type Json, recordOf } from '../value/index.ts';

const isNull = (value: unknown): boolean => value === undefined || value === null;

/**
 * The value with the schema's defaults. A null that the schema does not allow reads as absent. Gives back the value
 * itself when nothing is missing.
 */
export const withDefaults = (value: unknown, schema: Json): unknown => {
  if (Array.isArray(value)) {
    const items = recordOf(schema.items);
    let changed = false;
    const next = (value as unknown[]).map((item) => {
      const filled = withDefaults(item, items);
      changed ||= filled !== item;
      return filled;
    });
    return changed ? next : value;
  }
  if (!isRecord(value)) return value;
  let copy: Record<string, unknown> | undefined;
  const properties = recordOf(schema.properties);
  for (const name in properties) {
    const own = recordOf(properties[name]);
    const item = value[name];
    if (isNull(item)) {
      if (own.default !== undefined && !(item === null && own.nullable === true))
        (copy ??= { ...value })[name] = withDefaults(own.default, own);
      else if (item === null && own.nullable !== true) delete (copy ??= { ...value })[name];
      continue;
    }
    const filled = withDefaults(item, own);
    if (filled !== item) (copy ??= { ...value })[name] = filled;
  }
  if (isRecord(schema.additionalProperties)) {
    for (const name in value) {
      if (Object.hasOwn(properties, name)) continue;
      const filled = withDefaults(value[name], schema.additionalProperties);
      if (filled !== value[name]) (copy ??= { ...value })[name] = filled;
    }
  }
  return copy ?? value;
};
