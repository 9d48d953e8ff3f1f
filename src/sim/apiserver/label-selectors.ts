import { isOperator, matches, parseRequirements, type Requirement, type Unexpected } from '../../rollout/index.ts';
import { badRequest } from './errors.ts';
import { arrayOf, at, type Json, recordOf, textOf } from './json.ts';

type Labels = Readonly<Record<string, unknown>>;

const isString = (value: unknown): value is string => typeof value === 'string';

/** Kubernetes' words for a syntax error. */
const wordsFor = ({ found = '', expected }: Unexpected): string => {
  switch (expected) {
    case 'key':
      return `found '${found}', expected: identifier`;
    case 'operator':
      return `found '${found}', expected: in, notin, =, ==, !=, gt, lt`;
    case 'opening parenthesis':
      return "found no '('";
    case 'comma or closing parenthesis':
      return `found '${found}', expected: ',' or ')'`;
    case 'comma':
      return `found '${found}', expected: ',' or 'end of string'`;
  }
};

/** Parses a `labelSelector` query parameter; undefined when it is empty. */
export const parseLabelSelector = (text = ''): ((labels: Labels) => boolean) | undefined => {
  const parsed = parseRequirements(text);
  if (!parsed.ok) throw badRequest(`unable to parse requirement: ${wordsFor(parsed)}`);
  const { requirements } = parsed;
  return requirements.length === 0 ? undefined : (labels) => matches(requirements, labels as Record<string, string>);
};

/** Whether labels match a LabelSelector object; an empty one matches everything, an absent one nothing. */
export const matchesLabelSelector = (selector: unknown, labels: Json): boolean => {
  if (selector === undefined || selector === null) return false;
  const wanted = Object.entries(recordOf(at(selector, 'matchLabels')));
  if (!wanted.every(([key, value]) => labels[key] === value)) return false;
  return arrayOf(at(selector, 'matchExpressions')).every((each) => {
    const operator = textOf(at(each, 'operator'));
    const values = arrayOf(at(each, 'values')).filter(isString);
    const requirement: Requirement | undefined =
      isOperator(operator) && operator !== 'Gt' && operator !== 'Lt'
        ? { key: textOf(at(each, 'key')), operator, values }
        : undefined;
    return requirement !== undefined && matches([requirement], labels as Record<string, string>);
  });
};
