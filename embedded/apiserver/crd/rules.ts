import { memoize } from '../../memoize.ts';
import type { StatusCause } from '../errors.ts';
import { arrayOf, isRecord, type Json, recordOf, textOf } from '../json.ts';
import { compile, optional } from './cel.ts';

const RULES = 'x-kubernetes-validations';

const NONE: readonly StatusCause[] = [];

/** Whether any part of a schema has a rule that matches. */
const someRule = (matches: (rule: Json) => boolean): ((schema: Json) => boolean) => {
  const test = memoize(
    (schema: Json): boolean =>
      arrayOf(schema[RULES]).some((rule) => matches(recordOf(rule))) ||
      Object.values(recordOf(schema.properties)).some((part) => test(recordOf(part))) ||
      [schema.items, schema.additionalProperties].some((part) => isRecord(part) && test(part)),
  );
  return test;
};

/** Transition rules compare with the old value. */
const isTransition = (rule: Json): boolean => /\boldSelf\b/.test(textOf(rule.rule));

const hasRules = someRule(() => true);
const hasTransitions = someRule(isTransition);

/** Converts a value for CEL: integers are bigints where the schema says so. */
const celValue = (value: unknown, schema: Json): unknown => {
  if (typeof value === 'number') {
    const whole = schema.type === 'integer' || (schema.type === undefined && Number.isInteger(value));
    return whole ? BigInt(value) : value;
  }
  if (Array.isArray(value)) return (value as unknown[]).map((item) => celValue(item, recordOf(schema.items)));
  if (!isRecord(value)) return value;
  const properties = recordOf(schema.properties);
  const rest = recordOf(schema.additionalProperties);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([name, item]) => [celName(name), celValue(item, recordOf(properties[name] ?? rest))]),
  );
};

const RESERVED = new Set([
  'true',
  'false',
  'null',
  'in',
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
  'var',
  'void',
  'while',
]);

/** Field names that aren't CEL identifiers are escaped as in Kubernetes. */
const celName = (name: string): string => {
  if (RESERVED.has(name)) return `__${name}__`;
  if (!/^[a-zA-Z_][a-zA-Z0-9_.\-/]*$/.test(name)) return name;
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
};

const REASONS: Readonly<Record<string, (message: string, kind: string) => string>> = {
  FieldValueForbidden: (message) => `Forbidden: ${message}`,
  FieldValueRequired: (message) => `Required value: ${message}`,
  FieldValueDuplicate: (_, kind) => `Duplicate value: "${kind}"`,
};

const kindOf = (schema: Json): string =>
  schema['x-kubernetes-int-or-string'] === true ? '' : textOf(schema.type) || 'object';

const messageOf = (rule: Json, variables: Record<string, unknown>): string => {
  const expression = textOf(rule.messageExpression);
  if (expression !== '') {
    try {
      const text = compile(expression)(variables);
      if (typeof text === 'string' && text.trim() !== '') return text.trim();
    } catch {
      // Fall back to the fixed message.
    }
  }
  return textOf(rule.message).trim() || `failed rule: ${textOf(rule.rule).trim()}`;
};

const evaluateRule = (rule: Json, variables: Record<string, unknown>, schema: Json, path: string): StatusCause[] => {
  const field = `${path}${textOf(rule.fieldPath)}` || '<nil>';
  const kind = kindOf(schema);
  try {
    if (compile(textOf(rule.rule))(variables) === true) return [];
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
    return [{ reason: 'FieldValueInvalid', message: `Invalid value: "${kind}": rule evaluation error: ${why}`, field }];
  }
  const reason = textOf(rule.reason) || 'FieldValueInvalid';
  const message = messageOf(rule, variables);
  return [{ reason, message: REASONS[reason]?.(message, kind) ?? `Invalid value: "${kind}": ${message}`, field }];
};

const oldItem = (item: unknown, old: unknown, schema: Json): unknown => {
  if (!Array.isArray(old) || schema['x-kubernetes-list-type'] !== 'map') return undefined;
  const keys = arrayOf(schema['x-kubernetes-list-map-keys']).map(textOf);
  return (old as unknown[]).find((each) => keys.every((key) => recordOf(each)[key] === recordOf(item)[key]));
};

// Values that are known to be valid, by schema.
const good = new WeakMap<object, Json>();

/** The errors of the schema's CEL rules. Transition rules, which use `oldSelf`, run only if there is an old value. */
export const validateRules = (value: unknown, old: unknown, schema: Json, path: string): readonly StatusCause[] => {
  if (value === undefined || value === null || !hasRules(schema)) return NONE;
  if (typeof value !== 'object' || hasTransitions(schema)) return errorsOf(value, old, schema, path);
  if (good.get(value) === schema) return NONE;
  const errors = errorsOf(value, old, schema, path);
  if (errors.length === 0) good.set(value, schema);
  return errors;
};

const errorsOf = (value: unknown, old: unknown, schema: Json, path: string): StatusCause[] => {
  const rules = arrayOf(schema[RULES]).map(recordOf);
  const errors: StatusCause[] = [];
  if (rules.length > 0) {
    const self = celValue(value, schema);
    for (const rule of rules) {
      const isNew = old === undefined || old === null;
      const compares = isTransition(rule);
      const isOptional = rule.optionalOldSelf === true;
      if (compares && isNew && !isOptional) continue;
      const before = (): unknown => (isNew ? undefined : celValue(old, schema));
      const variables = compares ? { self, oldSelf: isOptional ? optional(before()) : before() } : { self };
      errors.push(...evaluateRule(rule, variables, schema, path));
    }
  }
  if (Array.isArray(value)) {
    const items = recordOf(schema.items);
    for (const [index, item] of (value as unknown[]).entries())
      errors.push(...validateRules(item, oldItem(item, old, schema), items, `${path}[${index}]`));
  } else if (isRecord(value)) {
    const properties = recordOf(schema.properties);
    for (const [name, item] of Object.entries(value)) {
      const part = properties[name] ?? schema.additionalProperties;
      const before = isRecord(old) ? old[name] : undefined;
      if (isRecord(part)) errors.push(...validateRules(item, before, part, path === '' ? name : `${path}.${name}`));
    }
  }
  return errors;
};
