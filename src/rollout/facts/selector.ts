import type { LabelSelector } from 'kubernetes-types/meta/v1.d.ts';
import { MOST_REQUIREMENTS } from '../../words/index.ts';
import {
  compareRequirements,
  isOperator,
  type Labels,
  makeRequirement,
  type Operator,
  quoted,
  type Refusal,
  type Requirement,
  refuse,
  satisfies,
} from './requirement.ts';

/**
 * A label selector: every requirement must hold, so an empty one matches everything. The requirements are sorted and
 * distinct, so selectors that are written differently but have the same requirements are equal as data.
 */
export type Selector = readonly Requirement[];

export type ParsedSelector = { ok: true; selector: Selector } | Refusal;

// Neither the text form nor the API has a selector that matches nothing, and an absent `labelSelector=` matches everything.
// Any API server understands a contradiction.
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

/** Where a text does not follow the syntax of selectors; `found` is undefined at its end. */
export interface Unexpected {
  readonly ok: false;
  readonly found: string | undefined;
  readonly expected: 'key' | 'operator' | 'opening parenthesis' | 'comma or closing parenthesis' | 'comma';
}

type Parsed<T> = ({ ok: true; next: number } & T) | Unexpected;

/** Reads `(a, b)` from `start` on. A value may be empty, as in `(a,)` and `()`. */
const parseSet = (tokens: readonly string[], start: number): Parsed<{ values: string[] }> => {
  if (tokens[start] !== '(') return { ok: false, found: tokens[start], expected: 'opening parenthesis' };
  const values: string[] = [];
  for (let at = start + 1; ; at++) {
    const word = tokens[at];
    if (isWord(word)) at++;
    values.push(isWord(word) ? word : '');
    if (tokens[at] === ')') return { ok: true, values, next: at + 1 };
    if (tokens[at] !== ',') return { ok: false, found: tokens[at], expected: 'comma or closing parenthesis' };
  }
};

const parseRequirement = (tokens: readonly string[], start: number): Parsed<{ requirement: Requirement }> => {
  const negated = tokens[start] === '!';
  const keyAt = negated ? start + 1 : start;
  const key = tokens[keyAt];
  if (!isWord(key)) return { ok: false, found: key, expected: 'key' };
  const parsed = (
    operator: Operator,
    values: readonly string[],
    next: number,
  ): Parsed<{ requirement: Requirement }> => ({
    ok: true,
    requirement: { key, operator, values },
    next,
  });
  if (negated) return parsed('DoesNotExist', [], keyAt + 1);

  const sign = tokens[keyAt + 1];
  if (sign === undefined || sign === ',') return parsed('Exists', [], keyAt + 1);
  const operator = Object.hasOwn(operatorOf, sign) ? operatorOf[sign] : undefined;
  if (!operator) return { ok: false, found: sign, expected: 'operator' };
  if (sign === 'in' || sign === 'notin') {
    const set = parseSet(tokens, keyAt + 2);
    return set.ok ? parsed(operator, set.values, set.next) : set;
  }
  const value = tokens[keyAt + 2];
  // `a=` selects the empty value.
  return isWord(value) ? parsed(operator, [value], keyAt + 3) : parsed(operator, [''], keyAt + 2);
};

/** Reads the syntax of a selector and leaves keys and values as they are. Blank text has no requirements. */
export const parseRequirements = (text: string): { ok: true; requirements: Requirement[] } | Unexpected => {
  const tokens = text.match(TOKEN) ?? [];
  const requirements: Requirement[] = [];
  if (tokens.length === 0) return { ok: true, requirements };
  for (let at = 0; ; at++) {
    const parsed = parseRequirement(tokens, at);
    if (!parsed.ok) return parsed;
    requirements.push(parsed.requirement);
    at = parsed.next;
    if (at === tokens.length) return { ok: true, requirements };
    if (tokens[at] !== ',') return { ok: false, found: tokens[at], expected: 'comma' };
  }
};

const SYNTAX_CURE = 'write it as for kubectl -l, such as app=web,tier!=test,zone in (a, b),!legacy';

const expectedText: Record<Unexpected['expected'], string> = {
  key: 'a label key',
  operator: 'one of =, ==, !=, in, notin, >, <',
  'opening parenthesis': '"("',
  'comma or closing parenthesis': '"," or ")"',
  comma: '","',
};

const validated = (requirements: readonly Requirement[]): ParsedSelector => {
  const valid: Requirement[] = [];
  for (const { key, operator, values } of requirements) {
    const made = makeRequirement(key, operator, values);
    if (!made.ok) return made;
    valid.push(made.requirement);
  }
  return { ok: true, selector: toSelector(valid) };
};

/** Reads a selector as `kubectl -l` does. Blank text matches everything. */
export const parseSelector = (text: string): ParsedSelector => {
  const parsed = parseRequirements(text);
  if (parsed.ok) return validated(parsed.requirements);
  const found = parsed.found === undefined ? 'nothing' : quoted(parsed.found);
  return refuse(`has ${found} where ${expectedText[parsed.expected]} belongs`, SYNTAX_CURE);
};

/** Reads the API's form. As in Kubernetes, an empty selector matches everything and an absent one matches nothing. */
export const fromLabelSelector = (source: LabelSelector | undefined): ParsedSelector => {
  if (!source) return { ok: true, selector: selectNothing };
  const { matchLabels = {}, matchExpressions = [] } = source;
  const requirements: Requirement[] = Object.entries(matchLabels).map(([key, value]) => ({
    key,
    operator: 'In',
    values: [value],
  }));
  for (const { key, operator, values } of matchExpressions) {
    if (!isOperator(operator) || operator === 'Gt' || operator === 'Lt')
      return refuse(
        `has operator ${quoted(operator)} for ${quoted(key)} in matchExpressions`,
        'use In, NotIn, Exists or DoesNotExist',
      );
    requirements.push({ key, operator, values: values ?? [] });
  }
  return validated(requirements);
};

/** A selector that every node is compared with: one of many thousand requirements would stop everything else. */
export const selectsNodes = (parsed: ParsedSelector): ParsedSelector =>
  parsed.ok && parsed.selector.length > MOST_REQUIREMENTS
    ? refuse(`has ${parsed.selector.length} requirements`, `give at most ${MOST_REQUIREMENTS}`)
    : parsed;
