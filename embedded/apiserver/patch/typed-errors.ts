import { isRecord, type Json } from '../json.ts';
import type { ListShape, Shape } from '../schema/shape.ts';

const keyOf = (item: unknown, { keys, keyDefaults }: ListShape): string | undefined => {
  if (!isRecord(item)) return undefined;
  const parts = keys.map((key) => [key, item[key] ?? keyDefaults[key]] as const);
  // An item without any of its keys is no entry.
  if (parts.every(([, value]) => value === undefined)) return undefined;
  return parts
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(',');
};

const inList = (items: readonly unknown[], shape: ListShape, path: string): string | undefined => {
  const seen = new Set<string>();
  for (const item of items) {
    const key = shape.list === 'map' ? keyOf(item, shape) : shape.list === 'set' ? JSON.stringify(item) : undefined;
    if (key !== undefined && seen.has(key)) return `${path}: duplicate entries for key [${key}]`;
    if (key !== undefined) seen.add(key);
    const found = typedError(item, shape.of, `${path}[${key ?? ''}]`);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** What keeps a configuration from being applied: an unknown field, or two entries of a list with the same key. */
export const typedError = (value: unknown, shape: Shape, path = ''): string | undefined => {
  switch (shape.form) {
    case 'any':
    case 'scalar':
      return undefined;
    case 'list':
      return Array.isArray(value) ? inList(value as unknown[], shape, path) : undefined;
    case 'map':
      return isRecord(value) ? inFields(value, () => shape.of, path) : undefined;
    case 'struct': {
      if (!isRecord(value)) return undefined;
      for (const name of Object.keys(value))
        if (!shape.fields.has(name) && !shape.open) return `${path}.${name}: field not declared in schema`;
      return inFields(value, (name) => shape.fields.get(name)?.shape, path);
    }
  }
};

const inFields = (value: Json, shapeOf: (name: string) => Shape | undefined, path: string): string | undefined => {
  for (const name of Object.keys(value)) {
    const shape = shapeOf(name);
    const found = shape && typedError(value[name], shape, `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
};
