import { isRecord, type Json, recordOf } from '../value/index.ts';

const KEPT_AT_ROOT = ['apiVersion', 'kind', 'metadata'];

/** The value without the fields that its schema does not name. Gives back the value itself when it has none. */
export const pruneUnknownFields = (value: unknown, schema: Json, isRoot: boolean): unknown => {
  if (Array.isArray(value)) {
    const items = recordOf(schema.items);
    let changed = false;
    const next = (value as unknown[]).map((item) => {
      const pruned = pruneUnknownFields(item, items, false);
      changed ||= pruned !== item;
      return pruned;
    });
    return changed ? next : value;
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
