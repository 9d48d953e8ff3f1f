import { duplicateValue, invalidValue, notSupported, requiredField, type StatusCause } from '../errors.ts';
import { arrayOf, equal, isRecord, type Json, recordOf, textOf } from '../json.ts';

const isDateTime = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/.test(text) &&
  !Number.isNaN(Date.parse(text));

const formats: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': isDateTime,
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  duration: (text) => /^[+-]?(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$|^0$/.test(text),
  uri: (text) => URL.canParse(text),
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  ipv4: (text) => /^(\d{1,3}\.){3}\d{1,3}$/.test(text) && text.split('.').every((part) => Number(part) < 256),
  hostname: (text) =>
    text.length < 254 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/i.test(text),
  byte: (text) => /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0,
};

/** Whether a string has a format. As on the real server, unknown formats match everything. */
const hasFormat = (text: string, format: string): boolean => formats[format]?.(text) ?? true;

const TYPE_INVALID = 'FieldValueTypeInvalid';

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'string' || typeof value === 'boolean' ? typeof value : 'object';
};

const wrongType = (path: string, wanted: string, value: unknown): StatusCause => ({
  reason: TYPE_INVALID,
  message: `Invalid value: "${typeOf(value)}": ${path} in body must be of type ${wanted}: "${typeOf(value)}"`,
  field: path,
});

const inBody = (path: string, value: unknown, why: string): StatusCause =>
  invalidValue(path, value, `${path} in body ${why}`);

const numberErrors = (value: number, schema: Json, path: string): readonly StatusCause[] => {
  const { minimum, maximum, multipleOf } = schema;
  const errors: StatusCause[] = [];
  const exceeds = (limit: unknown, sign: 1 | -1, excludes: boolean): void => {
    if (typeof limit !== 'number' || sign * (value - limit) < 0 || (!excludes && value === limit)) return;
    const side = sign > 0 ? 'less' : 'greater';
    errors.push(inBody(path, value, `should be ${side} than ${excludes ? '' : 'or equal to '}${limit}`));
  };
  exceeds(minimum, -1, schema.exclusiveMinimum === true);
  exceeds(maximum, 1, schema.exclusiveMaximum === true);
  if (typeof multipleOf === 'number' && value % multipleOf !== 0)
    errors.push(inBody(path, value, `should be a multiple of ${multipleOf}`));
  return errors;
};

const patterns = new Map<string, RegExp | undefined>();

const patternOf = (source: string): RegExp | undefined => {
  if (!patterns.has(source)) {
    let pattern: RegExp | undefined;
    try {
      // oxlint-disable-next-line linear/patterns -- From the CRD of whoever runs this cluster.
      pattern = new RegExp(source, 'u');
    } catch {
      // RE2 accepts patterns that this engine doesn't, such as inline flags; those aren't checked.
      pattern = undefined;
    }
    patterns.set(source, pattern);
  }
  return patterns.get(source);
};

/** In code points, as Go counts. */
const lengthOf = (text: string): number => {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
};

const NONE: readonly StatusCause[] = [];

const textErrors = (value: string, schema: Json, path: string): readonly StatusCause[] => {
  const { maxLength, minLength, pattern } = schema;
  // A string has at most as many code points as UTF-16 units.
  const isShort = typeof maxLength !== 'number' || value.length <= maxLength;
  const length = isShort && typeof minLength !== 'number' ? 0 : lengthOf(value);
  // Only the first error of a string is reported.
  if (!isShort && length > maxLength)
    return [{ reason: 'FieldValueTooLong', message: `Too long: may not be more than ${maxLength} bytes`, field: path }];
  if (typeof minLength === 'number' && length < minLength)
    return [inBody(path, value, `should be at least ${minLength} chars long`)];
  if (typeof pattern === 'string' && patternOf(pattern)?.test(value) === false)
    return [inBody(path, value, `should match '${pattern}'`)];
  const format = textOf(schema.format);
  if (format === '' || hasFormat(value, format)) return NONE;
  return [{ ...inBody(path, value, `must be of type ${format}: ${JSON.stringify(value)}`), reason: TYPE_INVALID }];
};

const tooMany = (path: string, count: number, most: unknown): StatusCause[] =>
  typeof most === 'number' && count > most
    ? [{ reason: 'FieldValueTooMany', message: `Too many: ${count}: must have at most ${most} items`, field: path }]
    : [];

const listErrors = (value: readonly unknown[], schema: Json, path: string): StatusCause[] => {
  const { maxItems, minItems } = schema;
  const errors = tooMany(path, value.length, maxItems);
  if (typeof minItems === 'number' && value.length < minItems)
    errors.push(inBody(path, value.length, `should have at least ${minItems} items`));
  const items = recordOf(schema.items);
  for (const [index, item] of value.entries()) errors.push(...validateSchema(item, items, `${path}[${index}]`));
  return [...errors, ...duplicates(value, schema, path)];
};

const duplicates = (value: readonly unknown[], schema: Json, path: string): StatusCause[] => {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'map' && type !== 'set') return [];
  const keys = arrayOf(schema['x-kubernetes-list-map-keys']).map(textOf);
  const seen = new Set<string>();
  return value.flatMap((item, index) => {
    const id = type === 'set' ? item : Object.fromEntries(keys.map((key) => [key, recordOf(item)[key]]));
    const text = JSON.stringify(id);
    if (seen.has(text)) return [duplicateValue(`${path}[${index}]`, id)];
    seen.add(text);
    return [];
  });
};

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

const objectErrors = (value: Json, schema: Json, path: string): StatusCause[] => {
  const errors = arrayOf(schema.required).flatMap((name) =>
    value[textOf(name)] === undefined ? [requiredField(join(path, textOf(name)))] : [],
  );
  const { maxProperties, minProperties, additionalProperties } = schema;
  const size = Object.keys(value).length;
  errors.push(...tooMany(path, size, maxProperties));
  if (typeof minProperties === 'number' && size < minProperties)
    errors.push(inBody(path, size, `should have at least ${minProperties} properties`));
  const properties = recordOf(schema.properties);
  for (const name of Object.keys(value)) {
    const item = value[name];
    if (item === undefined) continue;
    const own = properties[name] ?? additionalProperties;
    if (!isRecord(own)) continue;
    const found = validateSchema(item, own, join(path, name));
    if (found.length > 0) errors.push(...found);
  }
  return errors;
};

const isOfType = (value: unknown, type: string): boolean => {
  const own = typeOf(value);
  return own === type || (type === 'number' && own === 'integer');
};

const valueErrors = (value: unknown, schema: Json, path: string): readonly StatusCause[] => {
  if (Array.isArray(value)) return listErrors(value as unknown[], schema, path);
  if (isRecord(value)) return objectErrors(value, schema, path);
  if (typeof value === 'number') return numberErrors(value, schema, path);
  return typeof value === 'string' ? textErrors(value, schema, path) : NONE;
};

const combined = (value: unknown, schema: Json, path: string): readonly StatusCause[] => {
  if (
    schema.allOf === undefined &&
    schema.anyOf === undefined &&
    schema.oneOf === undefined &&
    schema.not === undefined
  )
    return NONE;
  const fits = (part: unknown): boolean => validateSchema(value, recordOf(part), path).length === 0;
  const errors = arrayOf(schema.allOf).flatMap((part) => validateSchema(value, recordOf(part), path));
  if (schema.anyOf !== undefined && schema['x-kubernetes-int-or-string'] !== true && !arrayOf(schema.anyOf).some(fits))
    errors.push(inBody(path, typeOf(value), 'must validate at least one schema (anyOf)'));
  if (schema.oneOf !== undefined && arrayOf(schema.oneOf).filter(fits).length !== 1)
    errors.push(inBody(path, typeOf(value), 'must validate one and only one schema (oneOf)'));
  if (schema.not !== undefined && fits(schema.not))
    errors.push(inBody(path, typeOf(value), 'must not validate the schema (not)'));
  return errors;
};

// Most parts of a written object are shared with the stored one, and known to be valid.
const good = new WeakMap<object, Json>();

/** The errors of a value by its schema, in the real server's words. CEL rules are evaluated afterwards. */
export const validateSchema = (value: unknown, schema: Json, path: string): readonly StatusCause[] => {
  if (typeof value !== 'object' || value === null) return errorsOf(value, schema, path);
  if (good.get(value) === schema) return NONE;
  const errors = errorsOf(value, schema, path);
  if (errors.length === 0) good.set(value, schema);
  return errors;
};

const errorsOf = (value: unknown, schema: Json, path: string): readonly StatusCause[] => {
  if (value === null && schema.nullable === true) return NONE;
  const type = textOf(schema.type);
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (typeof value !== 'string' && !Number.isInteger(value)) return [wrongType(path, 'integer,string', value)];
  } else if (type !== '' && !isOfType(value, type)) return [wrongType(path, type, value)];
  const own = valueErrors(value, schema, path);
  const choices = arrayOf(schema.enum);
  const isChosen = choices.length === 0 || choices.some((choice) => equal(choice, value));
  const errors = isChosen ? own : [...own, notSupported(path, value, choices.map(String))];
  const others = combined(value, schema, path);
  return others.length === 0 ? errors : [...errors, ...others];
};

const BLOCKING = [
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  TYPE_INVALID,
];

/** Whether these errors prevent evaluating CEL rules, which rely on the structure of the object. */
export const preventsRuleEvaluation = (causes: readonly StatusCause[]): boolean =>
  causes.some(({ reason }) => BLOCKING.includes(reason));
