import type { LabelSelector } from 'kubernetes-types/meta/v1.d.ts';
import {
  compareRequirements,
  type Labels,
  makeRequirement,
  type Operator,
  operators,
  type Refusal,
  type Requirement,
  refuse,
  satisfies,
} from './requirement.ts';

/**
 * A label selector: every requirement must hold, so an empty one matches everything. Requirements are in one fixed
 * order without duplicates: selectors that are written differently and mean the same conditions are equal as data.
 */
export type Selector = readonly Requirement[];

export type ParsedSelector = { ok: true; selector: Selector } | Refusal;

export const selectEverything: Selector = [];

// Neither the text form nor the API has a selector that matches nothing, and an absent `labelSelector=` matches all: a
// contradiction says it in a form that any API server understands.
const NOTHING = 'edgeset.io/nothing';

export const selectNothing: Selector = [
  { key: NOTHING, operator: 'DoesNotExist', values: [] },
  { key: NOTHING, operator: 'Exists', values: [] },
];

export const matches = (selector: Selector, labels: Labels): boolean =>
  selector.every((requirement) => satisfies(labels, requirement));

const formatRequirement = ({ key, operator, values }: Requirement): string => {
  const [only = '', ...others] = values;
  switch (operator) {
    case 'In':
      return others.length === 0 ? `${key}=${only}` : `${key} in (${values.join()})`;
    case 'NotIn':
      return others.length === 0 ? `${key}!=${only}` : `${key} notin (${values.join()})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    case 'Gt':
      return `${key}>${only}`;
    case 'Lt':
      return `${key}<${only}`;
  }
};

const toSelector = (requirements: readonly Requirement[]): Selector => {
  const distinct = new Map(requirements.map((requirement) => [formatRequirement(requirement), requirement]));
  return [...distinct.values()].toSorted(compareRequirements);
};

/** The text that `labelSelector=` of a list or watch takes; the same for selectors with the same requirements. */
export const formatSelector = (selector: Selector): string => selector.map(formatRequirement).join();

const SYNTAX_CURE = 'write it as for kubectl -l, such as app=web,tier!=test,zone in (a, b),!legacy';

const TOKEN = /==|!=|[=!()<>,]|[^ \t\r\n=!()<>,]+/g;
const isWord = (token: string | undefined): token is string => token !== undefined && !/^[=!()<>,]/.test(token);

const operatorOf: Readonly<Record<string, Operator>> = {
  '=': 'In',
  '==': 'In',
  '!=': 'NotIn',
  '>': 'Gt',
  '<': 'Lt',
  in: 'In',
  notin: 'NotIn',
};

const unexpected = (token: string | undefined, wanted: string): Refusal =>
  refuse(`has ${token === undefined ? 'nothing' : `"${token}"`} where ${wanted} belongs`, SYNTAX_CURE);

type Parsed = { ok: true; requirement: Requirement; next: number } | Refusal;

/** Reads `(a, b)` from `start` on. A value may be empty, as in `(a,)` and `()`. */
const parseSet = (tokens: readonly string[], start: number): { ok: true; values: string[]; next: number } | Refusal => {
  if (tokens[start] !== '(') return unexpected(tokens[start], '"("');
  const values: string[] = [];
  for (let at = start + 1; ; at++) {
    const word = tokens[at];
    if (isWord(word)) at++;
    values.push(isWord(word) ? word : '');
    if (tokens[at] === ')') return { ok: true, values, next: at + 1 };
    if (tokens[at] !== ',') return unexpected(tokens[at], '"," or ")"');
  }
};

const parseRequirement = (tokens: readonly string[], start: number): Parsed => {
  const finish = (key: string, operator: Operator, values: readonly string[], next: number): Parsed => {
    const made = makeRequirement(key, operator, values);
    return made.ok ? { ...made, next } : made;
  };
  const negated = tokens[start] === '!';
  const keyAt = negated ? start + 1 : start;
  const key = tokens[keyAt];
  if (!isWord(key)) return unexpected(key, 'a label key');
  if (negated) return finish(key, 'DoesNotExist', [], keyAt + 1);

  const sign = tokens[keyAt + 1];
  if (sign === undefined || sign === ',') return finish(key, 'Exists', [], keyAt + 1);
  const operator = Object.hasOwn(operatorOf, sign) ? operatorOf[sign] : undefined;
  if (!operator) return unexpected(sign, 'one of =, ==, !=, in, notin, >, <');
  if (sign === 'in' || sign === 'notin') {
    const set = parseSet(tokens, keyAt + 2);
    return set.ok ? finish(key, operator, set.values, set.next) : set;
  }
  const value = tokens[keyAt + 2];
  // `a=` asks for the empty value.
  return isWord(value) ? finish(key, operator, [value], keyAt + 3) : finish(key, operator, [''], keyAt + 2);
};

/** Reads a selector as `kubectl -l` does. Blank text matches everything. */
export const parseSelector = (text: string): ParsedSelector => {
  const tokens = text.match(TOKEN) ?? [];
  if (tokens.length === 0) return { ok: true, selector: selectEverything };
  const requirements: Requirement[] = [];
  for (let at = 0; ; at++) {
    const parsed = parseRequirement(tokens, at);
    if (!parsed.ok) return parsed;
    requirements.push(parsed.requirement);
    at = parsed.next;
    if (at === tokens.length) return { ok: true, selector: toSelector(requirements) };
    if (tokens[at] !== ',') return unexpected(tokens[at], '","');
  }
};

const isOperator = (text: string): text is Operator => (operators as readonly string[]).includes(text);

/** Reads the API's form. As in Kubernetes an empty selector matches everything and an absent one matches nothing. */
export const fromLabelSelector = (source: LabelSelector | undefined): ParsedSelector => {
  if (!source) return { ok: true, selector: selectNothing };
  const requirements: Requirement[] = [];
  for (const [key, value] of Object.entries(source.matchLabels ?? {})) {
    const made = makeRequirement(key, 'In', [value]);
    if (!made.ok) return made;
    requirements.push(made.requirement);
  }
  for (const { key, operator, values } of source.matchExpressions ?? []) {
    if (!isOperator(operator) || operator === 'Gt' || operator === 'Lt')
      return refuse(
        `has operator "${operator}" for "${key}" in matchExpressions`,
        'use In, NotIn, Exists or DoesNotExist',
      );
    const made = makeRequirement(key, operator, values ?? []);
    if (!made.ok) return made;
    requirements.push(made.requirement);
  }
  return { ok: true, selector: toSelector(requirements) };
};
