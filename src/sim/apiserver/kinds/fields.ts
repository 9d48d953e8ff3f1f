import type { FieldReader } from '../select/index.ts';
import { at, type Json } from '../value/index.ts';

const reader =
  (path: readonly string[], otherwise = '') =>
  (object: Json): string => {
    const value = at(object, ...path);
    return value === undefined || value === null ? otherwise : String(value);
  };

/** Fields by path; a field that reads as something else when absent has that after a colon. */
export const selectable = (...fields: readonly string[]): FieldReader => {
  const all = ['metadata.name', 'metadata.namespace', ...fields];
  const readers = new Map(
    all.map((entry) => {
      const [field = '', otherwise = ''] = entry.split(':');
      return [field, reader(field.split('.'), otherwise)] as const;
    }),
  );
  return (field) => readers.get(field);
};
