import { equal, isRecord, scalarText, textOf } from '../json.ts';
import type { CustomVersion } from '../registry/kind.ts';
import { ageColumn, ageOf, type Column, nameColumn } from './columns.ts';

type Step = (values: readonly unknown[]) => unknown[];

const fieldStep =
  (name: string): Step =>
  (values) =>
    values.flatMap((value) => (isRecord(value) && value[name] !== undefined ? [value[name]] : []));

const everyStep: Step = (values) =>
  values.flatMap((value) =>
    Array.isArray(value) ? (value as unknown[]) : isRecord(value) ? Object.values(value) : [],
  );

const indexStep =
  (index: number): Step =>
  (values) =>
    values.flatMap((value) => {
      const item: unknown = Array.isArray(value) ? value.at(index) : undefined;
      return item === undefined ? [] : [item];
    });

const literal = (text: string): unknown => {
  const trimmed = text.trim();
  if (/^(['"]).*\1$/s.test(trimmed)) return trimmed.slice(1, -1);
  if (trimmed === 'true' || trimmed === 'false') return trimmed === 'true';
  return Number.isNaN(Number(trimmed)) ? trimmed : Number(trimmed);
};

const compare = (a: unknown, sign: string, b: unknown): boolean => {
  if (sign === '==') return equal(a, b);
  if (sign === '!=') return !equal(a, b);
  const [left, right] = [Number(a), Number(b)];
  if (sign === '<') return left < right;
  if (sign === '>') return left > right;
  return sign === '<=' ? left <= right : left >= right;
};

/** `[?(@.type=="Ready")]` */
const filterStep = (text: string): Step => {
  const match = /^@((?:\.[\w-]+)+)\s*(?:(==|!=|<=|>=|<|>)\s*(\S.*))?$/s.exec(text.trim());
  if (!match) return () => [];
  const [, path = '', sign, operand = ''] = match;
  const read = jsonPath(path);
  return (values) =>
    everyStep(values).filter((item) => {
      const [found] = read(item);
      return sign === undefined ? found !== undefined : found !== undefined && compare(found, sign, literal(operand));
    });
};

const TOKEN = /\.((?:\\.|[^.[\\])+)|\[\?\((.+?)\)\]|\[(['"])(.+?)\3\]|\[(-?\d+)\]|(?:\.?\[\*\]|\.\*)/gy;

/** Compiles the JSONPath of a printer column: fields, indexes, wildcards and one-condition filters. */
export const jsonPath = (path: string): ((value: unknown) => readonly unknown[]) => {
  const steps: Step[] = [];
  for (const [all, name, filter, , quoted, index] of path.matchAll(TOKEN)) {
    if (all === '.*') steps.push(everyStep);
    else if (name !== undefined) steps.push(fieldStep(name.replaceAll(/\\(.)/g, '$1')));
    else if (filter !== undefined) steps.push(filterStep(filter));
    else if (quoted !== undefined) steps.push(fieldStep(quoted));
    else if (index !== undefined) steps.push(indexStep(Number(index)));
    else steps.push(everyStep);
  }
  return (value) => steps.reduce<readonly unknown[]>((values, step) => step(values), [value]);
};

const cellOf = (type: string, value: unknown, now: number): unknown => {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'date':
      return ageOf(value, now);
    case 'integer':
    case 'number': {
      const number = Number(value);
      return Number.isNaN(number) ? null : number;
    }
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    default:
      return scalarText(value, JSON.stringify(value));
  }
};

/** The printer columns of a custom resource; by default its age. */
export const customColumns = ({ columns }: CustomVersion): readonly Column[] => {
  if (columns.length === 0) return [nameColumn, ageColumn];
  const own = columns.map((definition): Column => {
    const path = jsonPath(textOf(definition.jsonPath));
    const type = textOf(definition.type);
    return {
      name: textOf(definition.name),
      type,
      format: textOf(definition.format),
      description: textOf(definition.description),
      priority: Number(definition.priority ?? 0),
      cell: (object, now) => cellOf(type, path(object)[0], now),
    };
  });
  return [nameColumn, ...own];
};
