import {
  fromLabelSelector,
  matches,
  parseRequirements,
  type Requirement,
  type Unexpected,
} from '../../src/rollout/index.ts';
import { badRequest } from './errors.ts';
import { isRecord, type Json } from './json.ts';
import { labelValueErrors, qualifiedNameErrors } from './registry/strategies/names.ts';

type Labels = Readonly<Record<string, unknown>>;

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
  const parsed = fromLabelSelector(isRecord(selector) ? selector : undefined);
  return parsed.ok && matches(parsed.selector, labels as Record<string, string>);
};
