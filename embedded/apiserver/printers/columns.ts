import type { StoredObject } from '../../types.ts';
import { arrayOf, at, type Json, recordOf, scalarText, textOf } from '../json.ts';

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  /** 0 is always shown; higher priorities only in wide output. */
  readonly priority: number;
  readonly description: string;
  readonly cell: (object: StoredObject, now: number) => unknown;
}

type Cell = Column['cell'];

const column = (name: string, type: string, cell: Cell, priority: number, format = ''): Column => ({
  name,
  type,
  format,
  priority,
  description: '',
  cell,
});

export const nameColumn: Column = column('Name', 'string', ({ metadata }) => metadata.name, 0, 'name');
export const textColumn = (name: string, cell: Cell): Column => column(name, 'string', cell, 0);
export const countColumn = (name: string, cell: Cell): Column => column(name, 'integer', cell, 0);
export const wideColumn = (name: string, cell: Cell): Column => column(name, 'string', cell, 1);

export const NONE = '<none>';
export const UNKNOWN = '<unknown>';

/** Reads a field as a number; 0 if absent. */
export const number = (...path: readonly string[]): ((object: StoredObject) => number) => {
  return (object) => Number(at(object, ...path) ?? 0);
};

/** Reads a field as text. */
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

/** The container names and images of a template, for two cells. */
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

const SECOND = 1000;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

const two = (first: number, firstUnit: string, second: number, secondUnit: string): string =>
  second === 0 ? `${first}${firstUnit}` : `${first}${firstUnit}${second}${secondUnit}`;

/** An age in kubectl's format: `45s`, `3m20s`, `26h`, `3d4h`, `2y10d`. */
export const humanDuration = (ms: number): string => {
  const seconds = Math.floor(ms / SECOND);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  const minutes = Math.floor(seconds / MINUTE);
  if (minutes < 10) return two(minutes, 'm', seconds % MINUTE, 's');
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.floor(seconds / HOUR);
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(seconds / DAY);
  if (hours < 8 * 24) return two(days, 'd', hours % 24, 'h');
  if (days < 2 * 365) return `${days}d`;
  const years = Math.floor(seconds / YEAR);
  return years < 8 ? two(years, 'y', days % 365, 'd') : `${years}y`;
};

export const ageOf = (time: unknown, now: number): string => {
  const then = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(then) ? UNKNOWN : humanDuration(now - then);
};

export const ageColumn: Column = textColumn('Age', ({ metadata }, now) => ageOf(metadata.creationTimestamp, now));
