import { badRequest } from './errors.ts';
import { at, type Json, scalarText } from './json.ts';

/** Returns the reader of a selectable field; throws for other fields. */
export type FieldReader = (field: string) => (object: Json) => string;

export interface FieldTerm {
  field: string;
  equals: boolean;
  value: string;
}

const unescape = (text: string): string => text.replaceAll(/\\(.)/g, '$1');

/** Parses `a=b,c!=d`; a backslash escapes commas and signs in values. */
const fieldTerms = (text: string): FieldTerm[] => {
  const parts = text.match(/(?:\\.|[^,\\])+/g) ?? [];
  return parts.map((part) => {
    const match = /^((?:\\.|[^=!\\])*)(!=|==|=)(.*)$/s.exec(part);
    if (!match) throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    const [, field = '', sign, value = ''] = match;
    return { field, equals: sign !== '!=', value: unescape(value) };
  });
};

export interface FieldSelector {
  readonly test: (object: Json) => boolean;
  /** Fields that must have exactly one value, for indexes. */
  readonly pinned: ReadonlyMap<string, string>;
}

/** Parses a `fieldSelector` query parameter; undefined when it is empty. */
export const parseFieldSelector = (text: string | undefined, reader: FieldReader): FieldSelector | undefined => {
  if (text === undefined || text === '') return undefined;
  const pinned = new Map<string, string>();
  const tests = fieldTerms(text).map(({ field, equals, value }) => {
    const read = reader(field);
    if (equals) pinned.set(field, value);
    return (object: Json): boolean => (read(object) === value) === equals;
  });
  return { test: (object) => tests.every((test) => test(object)), pinned };
};

const reader =
  (path: readonly string[], otherwise = '') =>
  (object: Json): string => {
    const value = at(object, ...path);
    return scalarText(value, otherwise);
  };

/** Selectable fields by path. A default for an absent field follows a colon. */
const COMMON = ['metadata.name', 'metadata.namespace'];

/** Kinds with only the common fields list them in the error. */
const unselectable = (hasOwn: boolean, field: string): string =>
  hasOwn
    ? `field label not supported: ${field}`
    : `${JSON.stringify(field)} is not a known field selector: only ${COMMON.map((each) => JSON.stringify(each)).join(', ')}`;

/** Custom kinds use the error of kinds with fields of their own. */
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
