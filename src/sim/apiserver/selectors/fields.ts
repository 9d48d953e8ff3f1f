import { badRequest } from '../errors.ts';
import type { Json } from '../value/index.ts';

/** How a selectable field reads from an object; throws for a field that cannot be selected by. */
export type FieldReader = (field: string) => (object: Json) => string;

export interface FieldTerm {
  field: string;
  equals: boolean;
  value: string;
}

const unescape = (text: string): string => text.replaceAll(/\\(.)/g, '$1');

/** `a=b,c!=d`; a backslash keeps commas and signs in values. */
export const fieldTerms = (text: string): FieldTerm[] => {
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
  /** Fields that must have one value: what an index can use. */
  readonly pinned: ReadonlyMap<string, string>;
}

/** The test that a `fieldSelector` asks for; undefined when it asks for nothing. */
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
