import { isRecord } from '../json.ts';
import { isNormalized } from './normalize.ts';
import type { ScalarType, Shape, StructShape } from './shape.ts';

const JSON_NAMES: Readonly<Record<string, string>> = { boolean: 'bool', number: 'number', string: 'string' };

const jsonName = (value: unknown): string =>
  Array.isArray(value) ? 'array' : isRecord(value) ? 'object' : (JSON_NAMES[typeof value] ?? typeof value);

const GO_NAMES: Partial<Record<ScalarType, string>> = {
  boolean: 'bool',
  number: 'float64',
  bytes: '[]uint8',
  // A number in it.
  intOrString: 'int32',
};

const goName = (shape: Shape): string => {
  switch (shape.form) {
    case 'scalar':
      return GO_NAMES[shape.type] ?? shape.type;
    case 'struct':
      return shape.name.split('.').slice(-2).join('.');
    case 'map':
      return `map[string]${goName(shape.of)}`;
    case 'list':
      return `[]${goName(shape.of)}`;
    case 'any':
      return 'interface {}';
  }
};

const isOfScalar = (value: unknown, type: ScalarType): boolean => {
  switch (type) {
    case 'bytes':
      return typeof value === 'string' && NO_BASE64.exec(value) === null;
    case 'string':
    case 'time':
    case 'microTime':
      return typeof value === 'string';
    case 'boolean':
      return typeof value === 'boolean';
    case 'int32':
      return Number.isInteger(value) && Math.abs(Number(value) + 0.5) < 2 ** 31;
    case 'int64':
      return Number.isInteger(value) && Math.abs(Number(value)) <= 2 ** 63;
    case 'number':
      return typeof value === 'number';
    case 'quantity':
      return typeof value === 'string' ? QUANTITY.test(value) : typeof value === 'number';
    case 'intOrString':
      return typeof value === 'string' || isOfScalar(value, 'int32');
  }
};

/** The first sign that no base64 has. */
const NO_BASE64 = /[^A-Za-z0-9+/=\r\n]/;

/** Only one part of it matches each digit, unlike in the expression that the API server names. */
const QUANTITY = /^[+-]?[0-9.]+(?:[eEinumkKMGTP]+[-+]?[0-9]*|[-+][0-9]*)?$/;

const isNumeric = (shape: Shape): boolean =>
  shape.form === 'scalar' && ['int32', 'int64', 'number', 'intOrString'].includes(shape.type);

const typeError = (value: unknown, shape: Shape, owner: StructShape, path: string): string => {
  if (typeof value === 'string' && shape.form === 'scalar' && shape.type === 'quantity')
    return `quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`;
  if (typeof value === 'string' && shape.form === 'scalar' && shape.type === 'bytes')
    return `illegal base64 data at input byte ${NO_BASE64.exec(value)?.index ?? 0}`;
  const given = typeof value === 'number' && isNumeric(shape) ? `number ${value}` : jsonName(value);
  const struct = owner.name.split('.').at(-1) ?? '';
  return `json: cannot unmarshal ${given} into Go struct field ${struct}.${path} of type ${goName(shape)}`;
};

/** The first value with the wrong type, in the words of Go's decoder; undefined when there is none. */
export const wrongType = (value: unknown, shape: Shape, owner?: StructShape, path = ''): string | undefined => {
  if (value === null || value === undefined || shape.form === 'any') return undefined;
  const within = owner ?? (shape.form === 'struct' ? shape : undefined);
  if (!within) return undefined;
  switch (shape.form) {
    case 'scalar':
      return isOfScalar(value, shape.type) ? undefined : typeError(value, shape, within, path);
    case 'list':
    case 'map': {
      if (shape.form === 'list' ? !Array.isArray(value) : !isRecord(value))
        return typeError(value, shape, within, path);
      for (const item of Object.values(value)) {
        const found = wrongType(item, shape.of, within, path);
        if (found !== undefined) return found;
      }
      return undefined;
    }
    case 'struct': {
      if (!isRecord(value)) return typeError(value, shape, within, path);
      if (isNormalized(value, shape)) return undefined;
      for (const name in value) {
        const item = value[name];
        const field = shape.fields.get(name);
        const found = field && wrongType(item, field.shape, shape, path === '' ? name : `${path}.${name}`);
        if (found !== undefined) return found;
      }
      return undefined;
    }
  }
};

/** Paths of unknown fields, as a strict decoder reports them. */
export const unknownFields = (value: unknown, shape: Shape): string[] => {
  const found: string[] = [];
  addUnknownFields(value, shape, '', found);
  return found;
};

const addUnknownFields = (value: unknown, shape: Shape, path: string, found: string[]): void => {
  switch (shape.form) {
    case 'any':
    case 'scalar':
      return;
    case 'list':
      if (Array.isArray(value))
        for (const [index, item] of value.entries()) addUnknownFields(item, shape.of, `${path}[${index}]`, found);
      return;
    case 'map':
      if (shape.of.form === 'scalar' || !isRecord(value)) return;
      for (const key of Object.keys(value)) addUnknownFields(value[key], shape.of, `${path}.${key}`, found);
      return;
    case 'struct': {
      if (!isRecord(value) || isNormalized(value, shape)) return;
      for (const name of Object.keys(value)) {
        const field = shape.fields.get(name);
        if (field?.shape.form === 'scalar') continue;
        const here = path === '' ? name : `${path}.${name}`;
        if (field) addUnknownFields(value[name], field.shape, here, found);
        else if (!shape.open) found.push(here);
      }
    }
  }
};
