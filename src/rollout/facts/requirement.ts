/** One requirement on an object's labels, as in label selectors and node affinity terms. */
export interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  /** Sorted and without duplicates, so that equal requirements are equal as data. */
  readonly values: readonly string[];
}

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'] as const;
export type Operator = (typeof operators)[number];

export const isOperator = (text: string): text is Operator => (operators as readonly string[]).includes(text);

export type Labels = Readonly<Record<string, string>>;

/** Why something cannot be used, in a form that completes `<field> "<value>" <problem>: <remedy>.` */
export interface Refusal {
  readonly ok: false;
  readonly problem: string;
  readonly remedy: string;
}

export const refuse = (problem: string, remedy: string): Refusal => ({ ok: false, problem, remedy });

/** A text of others within a problem: no longer than people read. */
export const quoted = (text: string): string => `"${text.length > 100 ? `${text.slice(0, 99)}…` : text}"`;

const NAME = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const NAME_LIMIT = 63;
const PREFIX = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const PREFIX_LIMIT = 253;

const isName = (text: string): boolean => text.length <= NAME_LIMIT && NAME.test(text);

/** Is this a valid label key in Kubernetes: `name` or `dns.prefix/name`? */
export const isLabelKey = (text: string): boolean => {
  const slash = text.indexOf('/');
  const prefix = text.slice(0, slash);
  return slash < 0
    ? isName(text)
    : prefix.length <= PREFIX_LIMIT && PREFIX.test(prefix) && isName(text.slice(slash + 1));
};

export const isLabelValue = (text: string): boolean => text === '' || isName(text);

// Kubernetes compares signed 64-bit integers, which exceed the precision of JavaScript numbers.
const toInt64 = (text: string): bigint | undefined => {
  if (!/^[+-]?\d{1,63}$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
};

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** How many values each operator takes. */
const arity = {
  In: { least: 1, most: Number.POSITIVE_INFINITY, remedy: 'give at least one value' },
  NotIn: { least: 1, most: Number.POSITIVE_INFINITY, remedy: 'give at least one value' },
  Exists: { least: 0, most: 0, remedy: 'leave the values out' },
  DoesNotExist: { least: 0, most: 0, remedy: 'leave the values out' },
  Gt: { least: 1, most: 1, remedy: 'give exactly one whole number' },
  Lt: { least: 1, most: 1, remedy: 'give exactly one whole number' },
} as const;

const KEY_CURE = 'use a key such as zone or example.com/zone: letters, digits, "-", "_", ".", at most 63 after the "/"';
const VALUE_CURE = 'use at most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends';

/** Creates a requirement by Kubernetes' validation rules. */
export const makeRequirement = (
  key: string,
  operator: Operator,
  values: readonly string[],
): { ok: true; requirement: Requirement } | Refusal => {
  if (!isLabelKey(key)) return refuse(`has ${quoted(key)} where a label key belongs`, KEY_CURE);
  const { least, most, remedy } = arity[operator];
  if (values.length < least || values.length > most)
    return refuse(`has ${values.length} values for ${operator} of "${key}"`, remedy);
  const wrong = values.find((value) => !isLabelValue(value));
  if (wrong !== undefined) return refuse(`has ${quoted(wrong)} where a value of label "${key}" belongs`, VALUE_CURE);
  if ((operator === 'Gt' || operator === 'Lt') && values.some((value) => toInt64(value) === undefined))
    return refuse(`compares "${key}" with "${values[0]}", which is not a number`, remedy);
  return { ok: true, requirement: { key, operator, values: [...new Set(values)].toSorted(compare) } };
};

const exceeds = (left: string | undefined, right: string | undefined): boolean => {
  const a = left === undefined ? undefined : toInt64(left);
  const b = right === undefined ? undefined : toInt64(right);
  return a !== undefined && b !== undefined && a > b;
};

// A selector is compared with every node, and may list thousands of values.
const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

const includes = (values: readonly string[], value: string): boolean => {
  let set = sets.get(values);
  if (!set) {
    set = new Set(values);
    sets.set(values, set);
  }
  return set.has(value);
};

/** An absent label satisfies only NotIn and DoesNotExist; a value that is no integer satisfies neither Gt nor Lt. */
export const satisfies = (labels: Labels, { key, operator, values }: Requirement): boolean => {
  const found = labels[key];
  // `constructor` is a valid label key: inherited properties are not labels. To ask takes longer than to read.
  const value = found !== undefined && Object.hasOwn(labels, key) ? found : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && includes(values, value);
    case 'NotIn':
      return value === undefined || !includes(values, value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return exceeds(value, values[0]);
    case 'Lt':
      return exceeds(values[0], value);
  }
};

/** A canonical order of requirements. */
export const compareRequirements = (a: Requirement, b: Requirement): number =>
  compare(a.key, b.key) || compare(a.operator, b.operator) || compare(a.values.join(), b.values.join());
