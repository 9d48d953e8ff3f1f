import type { StoredObject } from '../../types.ts';
import { arrayOf, at, type Json, recordOf, scalarText, textOf } from '../value/index.ts';

export const NONE = '<none>';
export const UNKNOWN = '<unknown>';

/** A field as a number; absent is 0. */
export const number = (...path: readonly string[]): ((object: StoredObject) => number) => {
  return (object) => Number(at(object, ...path) ?? 0);
};

/** A field as text. */
export const field = (otherwise: string, ...path: readonly string[]): ((object: StoredObject) => string) => {
  return (object) => {
    const value = at(object, ...path);
    return value === '' ? otherwise : scalarText(value, otherwise);
  };
};

export const labelsText = (labels: unknown): string => {
  const entries = Object.entries(recordOf(labels));
  if (entries.length === 0) return NONE;
  return entries
    .map(([key, value]) => `${key}=${String(value)}`)
    .toSorted()
    .join(',');
};

const OPERATORS: Readonly<Record<string, string>> = { In: 'in', NotIn: 'notin' };

const expressionText = (each: unknown): string => {
  const key = textOf(at(each, 'key'));
  const operator = textOf(at(each, 'operator'));
  if (operator === 'Exists') return key;
  if (operator === 'DoesNotExist') return `!${key}`;
  return `${key} ${OPERATORS[operator] ?? operator} (${arrayOf(at(each, 'values')).map(String).toSorted().join(',')})`;
};

export const selectorText = (selector: unknown): string => {
  const wanted = Object.entries(recordOf(at(selector, 'matchLabels'))).map(([key, value]) => `${key}=${String(value)}`);
  const all = [...wanted, ...arrayOf(at(selector, 'matchExpressions')).map(expressionText)];
  return all.length === 0 ? NONE : all.toSorted().join(',');
};

/** Names and images of a template's containers, as two cells. */
export const containerNames = (spec: unknown): string =>
  arrayOf(at(spec, 'containers'))
    .map((each) => textOf(at(each, 'name')))
    .join(',');

export const containerImages = (spec: unknown): string =>
  arrayOf(at(spec, 'containers'))
    .map((each) => textOf(at(each, 'image')))
    .join(',');

export const conditionOf = (object: Json, type: string): Json =>
  recordOf(arrayOf(at(object, 'status', 'conditions')).find((each) => at(each, 'type') === type));
