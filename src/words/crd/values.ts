import type { LabelSelector } from 'kubernetes-types/meta/v1.d.ts';
import { MOST_REQUIREMENTS } from '../plan.ts';
import { object, type Rule, type Schema, type SchemaOf, text, withRules } from './schema.ts';

/** Longest label key: a prefix of 253 characters, a slash and a name of 63. */
const KEY_LENGTH = 317;
const VALUE_LENGTH = 63;
/** Bounds the cost of CEL rules, far above any real use. */
const MOST_LABELS = 64;
const MOST_VALUES = 100;

export const labelMap = (description: string, most = MOST_LABELS): SchemaOf<Record<string, string>> => ({
  type: 'object',
  description,
  maxProperties: most,
  additionalProperties: { type: 'string', maxLength: VALUE_LENGTH },
});

export const labelSelector = (description: string, most = MOST_LABELS): SchemaOf<LabelSelector> => ({
  ...object(
    description,
    {
      matchLabels: labelMap('Labels that must be present with these values.', most),
      matchExpressions: {
        type: 'array',
        description: 'Requirements on labels. All of them must be met.',
        maxItems: most,
        'x-kubernetes-list-type': 'atomic',
        items: withRules(
          object(
            'A requirement on one label.',
            {
              key: text('Key of the label.', KEY_LENGTH, { minLength: 1 }),
              operator: {
                type: 'string',
                description: 'Relation between the key and the values.',
                enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
              },
              values: {
                type: 'array',
                description: 'Values to compare with: at least one for In and NotIn, none for the other operators.',
                maxItems: MOST_VALUES,
                'x-kubernetes-list-type': 'atomic',
                items: text('A value.', VALUE_LENGTH),
              },
            },
            { optional: ['values'] },
          ),
          {
            rule: "self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 : !has(self.values) || size(self.values) == 0",
            message: 'In and NotIn need at least one value, Exists and DoesNotExist take none',
            fieldPath: '.values',
          },
        ),
      },
    },
    { optional: ['matchLabels', 'matchExpressions'] },
  ),
  'x-kubernetes-map-type': 'atomic',
});

/** An integer, or a percentage such as `10%`. */
export type IntOrString = number | string;

/**
 * A non-negative integer or a percentage up to 100%. With `least` 1, zero is refused. The rule names every percentage: before
 * 1.34, Kubernetes takes a text here for one of 3 MB whatever its maxLength, and refuses a CRD that holds patterns against such
 * texts in a list.
 */
export const intOrPercent = (
  description: string,
  least: 0 | 1,
  more: Pick<Schema, 'default'> = {},
): SchemaOf<IntOrString> => {
  const percentages = Array.from({ length: 101 - least }, (_, index) => `'${index + least}%'`);
  return withRules(
    {
      description,
      'x-kubernetes-int-or-string': true,
      maxLength: 8,
      ...more,
    },
    {
      rule: `type(self) == int ? self >= ${least} : self in [${percentages.join(', ')}]`,
      message: `must be an integer of at least ${least} or a percentage from ${least}% to 100%, such as 3 or "10%"`,
    },
  );
};

/** A text with a pattern that the API server explains in words. */
const matching = (schema: SchemaOf<string>, pattern: string, message: string): SchemaOf<string> =>
  withRules(schema, { rule: `self.matches('^(${pattern})$')`, message });

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}([.]${LABEL})*`;
const QUALIFIED_NAME = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';

/** A name that can also be part of others, such as that of a stage. */
export const dnsLabel = (description: string): SchemaOf<string> =>
  matching(
    text(description, 63),
    LABEL,
    'must be lower-case letters, digits and hyphens, with a letter or digit at both ends, such as canary-1',
  );

export const objectName = (description: string): SchemaOf<string> =>
  matching(
    text(description, 253),
    SUBDOMAIN,
    'must be the name of an object: lower-case letters, digits, hyphens and dots, with a letter or digit at both ends',
  );

export const hostName = (description: string): SchemaOf<string> =>
  matching(text(description, 253), SUBDOMAIN, 'must be the name of a host, such as prometheus.example.org');

export const labelKey = (description: string): SchemaOf<string> =>
  matching(
    text(description, KEY_LENGTH),
    `(${SUBDOMAIN}/)?${QUALIFIED_NAME}`,
    'must be the key of a node label, such as topology.kubernetes.io/zone',
  );

/** So few digits that no part overflows Go's type. */
const DURATION = '([0-9]{1,9}([.][0-9]{1,9})?(ms|s)|[0-9]{1,6}([.][0-9]{1,9})?(m|h))+';

const IS_KEY = `matches('^(${SUBDOMAIN}/)?${QUALIFIED_NAME}$')`;

/** A selector that every node is compared with; a key that no label can have would select none of them in silence. */
export const nodeSelector = (description: string): SchemaOf<LabelSelector> =>
  withRules(
    labelSelector(description, MOST_REQUIREMENTS / 2),
    {
      rule: `!has(self.matchLabels) || self.matchLabels.all(k, k.${IS_KEY})`,
      message: 'must have keys of node labels, such as topology.kubernetes.io/zone',
      fieldPath: '.matchLabels',
    },
    {
      rule: `!has(self.matchExpressions) || self.matchExpressions.all(e, e.key.${IS_KEY})`,
      message: 'must have keys of node labels, such as topology.kubernetes.io/zone',
      fieldPath: '.matchExpressions',
    },
  );

/** A duration of Go, at most a year. */
export const duration = (
  description: string,
  { default: standard, least }: { default?: string; least?: string } = {},
): SchemaOf<string> =>
  withRules(text(description, 32, standard === undefined ? {} : { default: standard }), {
    rule:
      `self.matches('^${DURATION}$') && duration(self) <= duration('8760h')` +
      (least === undefined ? '' : ` && duration(self) >= duration('${least}')`),
    message: `must be a duration of ${least === undefined ? '' : `at least ${least} and `}at most 8760h (a year), such as 90s, 1h30m or 24h`,
  });

/** HH:MM. */
export const timeOfDay = (description: string): SchemaOf<string> =>
  matching(text(description, 5), '([01][0-9]|2[0-3]):[0-5][0-9]', 'must be a time from 00:00 to 23:59, such as 08:30');

const DATE =
  '[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|[12][0-9]))';
const TIME = 'T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})';

const DATE_OR_TIME = `${DATE}(${TIME})?`;

/** An RFC 3339 date or time. */
export const dateOrTime = (description: string): SchemaOf<string> =>
  matching(
    text(description, 40),
    DATE_OR_TIME,
    'must be a date or a time with its zone as in RFC 3339, such as 2026-12-20 or 2026-12-20T17:00:00Z',
  );

const isDate = (field: string): string => `${field}.matches('^${DATE_OR_TIME}$')`;
const instant = (field: string): string => `timestamp(size(${field}) == 10 ? ${field} + 'T00:00:00Z' : ${field})`;

/** Fields `from` and `to`, which `dateOrTime` describes. */
export const fromBeforeTo: Rule = {
  rule: `!(${isDate('self.from')} && ${isDate('self.to')}) || ${instant('self.from')} < ${instant('self.to')}`,
  message: 'the period ends before it begins: set to after from',
  fieldPath: '.to',
};

/** Of the optional fields, exactly one is set. */
export const exactlyOne = (a: string, b: string): Rule => ({
  rule: `has(self.${a}) != has(self.${b})`,
  message: `set either ${a} or ${b}`,
});
