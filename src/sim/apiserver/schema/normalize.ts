import { isRecord, type Json } from '../json.ts';
import type { Field, Shape } from './shape.ts';

// Go writes these out only when they are not zero; other numbers and booleans are pointers there, or always written.
const ZERO_IS_ABSENT = new Set([
  'hostPort',
  'minReadySeconds',
  'initialDelaySeconds',
  'hostNetwork',
  'hostPID',
  'hostIPC',
  'stdin',
  'stdinOnce',
  'tty',
  'readOnly',
  'unschedulable',
  'publishNotReadyAddresses',
  'paused',
  'globalDefault',
  'nodePort',
  'healthCheckNodePort',
  'observedGeneration',
  'generation',
]);

// Texts that are written out although they are empty.
const EMPTY_IS_SAID = new Set(['storageClassName', 'topologyKey']);

const isAbsent = (name: string, value: unknown, field: Field | undefined): boolean => {
  if (value === null || value === undefined) return true;
  if (field === undefined || field.required) return false;
  const { shape } = field;
  switch (shape.form) {
    case 'list':
      return Array.isArray(value) && value.length === 0;
    case 'map':
      return isRecord(value) && Object.keys(value).length === 0;
    case 'scalar':
      if (value === '') return shape.type === 'string' && !EMPTY_IS_SAID.has(name);
      return (value === false || value === 0) && ZERO_IS_ABSENT.has(name);
    case 'struct':
    case 'any':
      return false;
  }
};

// Most of what is written was read before and is shared: its parts need no second look. Small parts are looked at
// sooner than they are found in here.
const known = new WeakMap<object, Shape>();
const WORTH_KNOWING = 5;

/**
 * Notes that a value is stored as it is: reading it again would take out what the server has just filled in, only for it
 * to be filled in again.
 */
export const markNormalized = (value: unknown, shape: Shape): void => {
  if (typeof value !== 'object' || value === null) return;
  switch (shape.form) {
    case 'list':
      if (Array.isArray(value)) for (const item of value as unknown[]) markNormalized(item, shape.of);
      return;
    case 'struct': {
      if (shape.fields.size < WORTH_KNOWING || !isRecord(value) || known.get(value) === shape) return;
      known.set(value, shape);
      for (const name in value) {
        const item = value[name];
        if (typeof item !== 'object') continue;
        const field = shape.fields.get(name);
        if (field) markNormalized(item, field.shape);
      }
      return;
    }
    case 'map':
    case 'any':
    case 'scalar':
  }
};

/** The fields of a record up to one of them. */
const before = (value: Json, end: string): Record<string, unknown> => {
  const copy: Record<string, unknown> = {};
  for (const name in value) {
    if (name === end) return copy;
    copy[name] = value[name];
  }
  return copy;
};

/**
 * The value as a real server would read it and write it again: without nulls, without empty lists and maps, without
 * fields that the type does not have. Gives back the value itself when there is nothing to change.
 */
export const normalize = (value: unknown, shape: Shape): unknown => {
  switch (shape.form) {
    case 'any':
    case 'scalar':
      return value;
    case 'list': {
      if (!Array.isArray(value)) return value;
      let changed = false;
      const items = (value as unknown[]).map((item) => {
        const next = normalize(item, shape.of);
        changed ||= next !== item;
        return next;
      });
      return changed ? items : value;
    }
    case 'map': {
      if (!isRecord(value)) return value;
      let copy: Record<string, unknown> | undefined;
      for (const key in value) {
        const item = value[key];
        // A null in a map of texts reads as an empty text.
        const next = item === null && shape.of.form === 'scalar' ? '' : normalize(item, shape.of);
        if (next !== item) (copy ??= { ...value })[key] = next;
      }
      return copy ?? value;
    }
    case 'struct': {
      if (!isRecord(value)) return value;
      const isWorthKnowing = shape.fields.size >= WORTH_KNOWING;
      if (isWorthKnowing && known.get(value) === shape) return value;
      let copy: Record<string, unknown> | undefined;
      for (const name in value) {
        const item = value[name];
        const field = shape.fields.get(name);
        if (isAbsent(name, item, field) || (field === undefined && !shape.open)) {
          copy ??= before(value, name);
          continue;
        }
        const next = typeof item !== 'object' || field === undefined ? item : normalize(item, field.shape);
        if (next !== item) copy ??= before(value, name);
        if (copy) copy[name] = next;
      }
      const result = copy ?? value;
      if (isWorthKnowing) known.set(result, shape);
      return result;
    }
  }
};
