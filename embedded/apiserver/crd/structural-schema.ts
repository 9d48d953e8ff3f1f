import { isRecord, type Json, mapList, recordOf } from '../json.ts';

const KEPT_AT_ROOT = ['apiVersion', 'kind', 'metadata'];

/** Removes fields that the schema doesn't specify. Returns the value itself if there are none. */
export const pruneUnknownFields = (value: unknown, schema: Json, isRoot: boolean): unknown => {
  if (Array.isArray(value)) {
    const items = recordOf(schema.items);
    return mapList(value, (item) => pruneUnknownFields(item, items, false));
  }
  if (!isRecord(value)) return value;
  const properties = recordOf(schema.properties);
  const keeps = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const { additionalProperties } = schema;
  let copy: Record<string, unknown> | undefined;
  for (const name in value) {
    const item = value[name];
    if ((isRoot || embedded) && KEPT_AT_ROOT.includes(name)) continue;
    const own = properties[name];
    let next = item;
    if (isRecord(own)) next = pruneUnknownFields(item, own, false);
    else if (isRecord(additionalProperties)) next = pruneUnknownFields(item, additionalProperties, false);
    else if (additionalProperties !== true && !keeps) next = undefined;
    if (next === item) continue;
    copy ??= { ...value };
    if (next === undefined) delete copy[name];
    else copy[name] = next;
  }
  return copy ?? value;
};

const isNull = (value: unknown): boolean => value === undefined || value === null;

/**
 * Sets the schema's defaults. A null that isn't nullable counts as absent. Returns the value itself if nothing is
 * missing.
 */
export const withDefaults = (value: unknown, schema: Json): unknown => {
  if (Array.isArray(value)) {
    const items = recordOf(schema.items);
    return mapList(value, (item) => withDefaults(item, items));
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
