import { badRequest } from './errors.ts';
import { arrayOf, at, type Json, recordOf, textOf } from './json.ts';

type Labels = Readonly<Record<string, unknown>>;
type Test = (labels: Labels) => boolean;

const TOKEN = /\s*(==|!=|[=!()<>,]|[^\s=!()<>,]+)/gy;
const isWord = (token: string | undefined): token is string => token !== undefined && !/^[=!()<>,]/.test(token);

const reject = (why: string): never => {
  throw badRequest(`unable to parse requirement: ${why}`);
};

const tokensOf = (text: string): string[] => {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) tokens.push(match[1] ?? '');
  return tokens;
};

const oneOf = (key: string, values: readonly string[]): Test => {
  const [only] = values;
  if (values.length === 1) return (labels) => labels[key] === only;
  const set = new Set<unknown>(values);
  return (labels) => set.has(labels[key]);
};

const compare = (key: string, text: string, holds: (a: number, b: number) => boolean): Test => {
  const bound = Number(text);
  return (labels) => /^[+-]?\d+$/.test(textOf(labels[key])) && holds(Number(labels[key]), bound);
};

/** Parses `key in (a, b)`; returns the values and the next token's index. */
const readSet = (tokens: readonly string[], start: number): [string[], number] => {
  if (tokens[start] !== '(') reject("found no '('");
  const values: string[] = [];
  for (let here = start + 1; ; here += 1) {
    const word = tokens[here];
    if (isWord(word)) here += 1;
    values.push(isWord(word) ? word : '');
    if (tokens[here] === ')') return [values, here + 1];
    if (tokens[here] !== ',') reject(`found '${tokens[here] ?? ''}', expected: ',' or ')'`);
  }
};

const readRequirement = (tokens: readonly string[], start: number): [Test, number] => {
  const negated = tokens[start] === '!';
  const first = negated ? start + 1 : start;
  const key = tokens[first];
  if (!isWord(key)) return reject(`found '${key ?? ''}', expected: identifier`);
  if (negated) return [(labels) => labels[key] === undefined, first + 1];
  const sign = tokens[first + 1];
  if (sign === undefined || sign === ',') return [(labels) => labels[key] !== undefined, first + 1];
  if (sign === 'in' || sign === 'notin') {
    const [values, next] = readSet(tokens, first + 2);
    const within = oneOf(key, values);
    return [sign === 'in' ? within : (labels) => !within(labels), next];
  }
  const value = tokens[first + 2];
  const [operand, next] = isWord(value) ? [value, first + 3] : ['', first + 2];
  if (sign === '=' || sign === '==') return [(labels) => labels[key] === operand, next];
  if (sign === '!=') return [(labels) => labels[key] !== operand, next];
  if (sign === '>') return [compare(key, operand, (a, b) => a > b), next];
  if (sign === '<') return [compare(key, operand, (a, b) => a < b), next];
  return reject(`found '${sign}', expected: in, notin, =, ==, !=, gt, lt`);
};

/** Parses a `labelSelector` query parameter; undefined when it is empty. */
export const parseLabelSelector = (text: string | undefined): Test | undefined => {
  const tokens = text === undefined ? [] : tokensOf(text);
  if (text === undefined || tokens.length === 0) return undefined;
  const tests: Test[] = [];
  for (let here = 0; ; here += 1) {
    const [test, next] = readRequirement(tokens, here);
    tests.push(test);
    if (next >= tokens.length) return tests.length === 1 ? test : (labels) => tests.every((each) => each(labels));
    if (tokens[next] !== ',') reject(`found '${tokens[next]}', expected: ',' or 'end of string'`);
    here = next;
  }
};

/** Whether labels match a LabelSelector object; an empty one matches everything, an absent one nothing. */
export const matchesLabelSelector = (selector: unknown, labels: Json): boolean => {
  if (selector === undefined || selector === null) return false;
  const wanted = Object.entries(recordOf(at(selector, 'matchLabels')));
  if (!wanted.every(([key, value]) => labels[key] === value)) return false;
  return arrayOf(at(selector, 'matchExpressions')).every((each) => {
    const key = textOf(at(each, 'key'));
    const values = arrayOf(at(each, 'values'));
    switch (at(each, 'operator')) {
      case 'In':
        return values.includes(labels[key]);
      case 'NotIn':
        return !values.includes(labels[key]);
      case 'Exists':
        return labels[key] !== undefined;
      case 'DoesNotExist':
        return labels[key] === undefined;
      default:
        return false;
    }
  });
};
