import { isOperator, matches, parseRequirements, type Requirement, type Unexpected } from '../../src/rollout/index.ts';
import { badRequest } from './errors.ts';
import { arrayOf, at, type Json, recordOf, textOf } from './json.ts';
import { labelValueErrors, qualifiedNameErrors } from './registry/strategies/names.ts';

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

const quoted = (field: string, value: string, why: string): string =>
  `${field}: Invalid value: ${JSON.stringify(value)}: ${why}`;

/** What Kubernetes says of a key or value that no label can have; undefined if there is nothing to say. */
const wrongRequirement = ({ key, operator, values }: Requirement): string | undefined => {
  const ofKey = qualifiedNameErrors(key);
  if (ofKey.length > 0) return quoted('<nil>', key, ofKey.join('; '));
  if (operator === 'Gt' || operator === 'Lt') {
    const [value = ''] = values;
    if (!/^[-+]?\d+$/.test(value))
      return quoted('values[0]', value, "for 'Gt', 'Lt' operators, the value must be an integer");
  }
  const wrong = values.toSorted().flatMap((value, index) => {
    const errors = labelValueErrors(value);
    return errors.length > 0 ? [quoted(`values[${index}][${key}]`, value, errors.join('; '))] : [];
  });
  return wrong.length > 1 ? `[${wrong.join(', ')}]` : wrong[0];
};

/** Parses a `labelSelector` query parameter; undefined when it is empty. */
export const parseLabelSelector = (text = ''): ((labels: Labels) => boolean) | undefined => {
  const parsed = parseRequirements(text);
  if (!parsed.ok) throw badRequest(`unable to parse requirement: ${wordsFor(parsed)}`);
  const { requirements } = parsed;
  for (const requirement of requirements) {
    const wrong = wrongRequirement(requirement);
    if (wrong !== undefined) throw badRequest(`unable to parse requirement: ${wrong}`);
  }
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
