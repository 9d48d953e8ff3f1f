import { isRecord, type Json, mapList } from '../json.ts';
import type { Field, Shape } from './shape.ts';

// Go omits these when they are zero. Other numbers and booleans are pointers, or always written.
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

// Strings that are written even if empty.
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

// Most parts of an object that is written are shared with the stored one and need no second pass. Small parts are
// faster to normalize than to look up.
const known = new WeakMap<object, Shape>();
const WORTH_KNOWING = 5;

/** The value was normalized or stored with this shape: all of its fields are known, and of the right type. */
export const isNormalized = (value: object, shape: Shape): boolean => known.get(value) === shape;

/**
 * Marks a value as stored: normalizing it again would strip the defaults that the server just set, only to set them
 * again.
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

/** A copy of the fields before `end`. */
const before = (value: Json, end: string): Record<string, unknown> => {
  const copy: Record<string, unknown> = {};
  for (const name in value) {
    if (name === end) return copy;
    copy[name] = value[name];
  }
  return copy;
};

/**
 * The value after a round trip through Go's types: without nulls, empty lists and maps, and unknown fields. Returns the
 * value itself if nothing changes.
 */
export const normalize = (value: unknown, shape: Shape): unknown => {
  switch (shape.form) {
    case 'any':
    case 'scalar':
      return value;
    case 'list':
      return Array.isArray(value) ? mapList(value, (item) => normalize(item, shape.of)) : value;
    case 'map': {
      if (!isRecord(value)) return value;
      let copy: Record<string, unknown> | undefined;
      for (const key in value) {
        const item = value[key];
        // Go decodes a null in a map of strings as an empty string.
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
