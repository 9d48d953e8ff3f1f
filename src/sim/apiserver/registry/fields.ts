import { badRequest } from '../errors.ts';
import type { FieldReader } from '../selectors/index.ts';
import { at, type Json, scalarText } from '../value/index.ts';

const reader =
  (path: readonly string[], otherwise = '') =>
  (object: Json): string => {
    const value = at(object, ...path);
    return scalarText(value, otherwise);
  };

/** Fields by path; a field that reads as something else when absent has that after a colon. */
const COMMON = ['metadata.name', 'metadata.namespace'];

/** Kinds that have only what all have tell of that in their refusal. */
const unselectable = (hasOwn: boolean, field: string): string =>
  hasOwn
    ? `field label not supported: ${field}`
    : `${JSON.stringify(field)} is not a known field selector: only ${COMMON.map((each) => JSON.stringify(each)).join(', ')}`;

/** Custom kinds refuse in the words of those that have more than what all have. */
export const selectableCustomFields = (...fields: readonly string[]): FieldReader => readersOf(fields, true);

export const selectableFields = (...fields: readonly string[]): FieldReader => readersOf(fields, fields.length > 0);

const readersOf = (fields: readonly string[], hasOwn: boolean): FieldReader => {
  const all = [...COMMON, ...fields];
  const readers = new Map(
    all.map((entry) => {
      const [field = '', otherwise = ''] = entry.split(':');
      return [field, reader(field.split('.'), otherwise)] as const;
    }),
  );
  return (field) => {
    const read = readers.get(field);
    if (!read) throw badRequest(unselectable(hasOwn, field));
    return read;
  };
};
