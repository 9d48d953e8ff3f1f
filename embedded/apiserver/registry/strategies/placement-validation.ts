import {
  forbiddenField,
  invalidFor,
  invalidValue,
  nonEmpty,
  oneOf,
  requiredField,
  type StatusCause,
  validateItems,
} from '../../errors.ts';
import { arrayOf, at, isRecord, type Json, recordOf, textOf } from '../../json.ts';
import { labelValueErrors, qualifiedNameErrors } from './names.ts';

// On which nodes a pod runs: affinity and spreading.

const valueCauses = (values: readonly unknown[], field: string): StatusCause[] =>
  values.flatMap((value, index) => invalidFor(`${field}[${index}]`, value, labelValueErrors(textOf(value))));

export const keyCauses = (key: unknown, field: string): StatusCause[] =>
  invalidFor(field, textOf(key), qualifiedNameErrors(textOf(key)));

/** A requirement of a selector of labels or, with `isNode`, of nodes. */
export const requirementCauses = (
  requirement: unknown,
  field: string,
  { isNode, freeValues = false }: { isNode: boolean; freeValues?: boolean },
): StatusCause[] => {
  const operator = textOf(at(requirement, 'operator'));
  const values = arrayOf(at(requirement, 'values'));
  const causes: StatusCause[] = [];
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      causes.push(requiredField(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0)
      causes.push(
        forbiddenField(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      );
  } else if (isNode && (operator === 'Gt' || operator === 'Lt')) {
    if (values.length !== 1)
      causes.push(requiredField(`${field}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
  } else causes.push(invalidValue(`${field}.operator`, operator, 'not a valid selector operator'));
  causes.push(...keyCauses(at(requirement, 'key'), `${field}.key`));
  return freeValues ? causes : [...causes, ...valueCauses(values, `${field}.values`)];
};

const FIELD_KEYS = ['metadata.name'];

/** A requirement of a field of a node: exactly one name. */
const fieldCauses = ({ key, operator, values }: Json, field: string): StatusCause[] => {
  const causes: StatusCause[] = [];
  if (operator !== 'In' && operator !== 'NotIn')
    causes.push(invalidValue(`${field}.operator`, textOf(operator), 'not a valid selector operator'));
  else if (arrayOf(values).length !== 1)
    causes.push(
      requiredField(
        `${field}.values`,
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      ),
    );
  if (!FIELD_KEYS.includes(textOf(key)))
    causes.push(invalidValue(`${field}.key`, textOf(key), 'not a valid field selector key'));
  return causes;
};

const termCauses = (term: unknown, field: string, freeValues: boolean): StatusCause[] => [
  ...validateItems(recordOf(term), 'matchExpressions', field, (each, here) =>
    requirementCauses(each, here, { isNode: true, freeValues }),
  ),
  ...validateItems(recordOf(term), 'matchFields', field, fieldCauses),
];

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

const weightCauses = ({ weight }: Json, field: string): StatusCause[] =>
  Number(weight ?? 0) >= 1 && Number(weight) <= 100
    ? []
    : [invalidValue(`${field}.weight`, weight ?? 0, 'must be in the range 1-100')];

const nodeAffinity = (affinity: Json, field: string): StatusCause[] => {
  const required = affinity[REQUIRED];
  const terms = `${field}.${REQUIRED}.nodeSelectorTerms`;
  const causes = isRecord(required)
    ? arrayOf(required.nodeSelectorTerms).flatMap((term, index) => termCauses(term, `${terms}[${index}]`, false))
    : [];
  if (isRecord(required) && arrayOf(required.nodeSelectorTerms).length === 0)
    causes.push(requiredField(terms, 'must have at least one node selector term'));
  return [
    ...causes,
    ...validateItems(affinity, PREFERRED, field, (each, here) => [
      ...weightCauses(each, here),
      ...termCauses(each.preference, `${here}.preference`, true),
    ]),
  ];
};

const topologyCauses = (key: unknown, field: string): StatusCause[] => [
  ...nonEmpty(field, key, 'can not be empty'),
  ...keyCauses(key, field),
];

const podAffinity = (affinity: Json, field: string): StatusCause[] => [
  ...validateItems(affinity, REQUIRED, field, ({ topologyKey }, here) =>
    topologyCauses(topologyKey, `${here}.topologyKey`),
  ),
  ...validateItems(affinity, PREFERRED, field, (each, here) => [
    ...weightCauses(each, here),
    ...topologyCauses(at(each, 'podAffinityTerm', 'topologyKey'), `${here}.podAffinityTerm.topologyKey`),
  ]),
];

export const validateAffinity = (spec: Json, field: string): StatusCause[] => {
  const affinity = recordOf(spec.affinity);
  const here = `${field}.affinity`;
  return [
    ...nodeAffinity(recordOf(affinity.nodeAffinity), `${here}.nodeAffinity`),
    ...podAffinity(recordOf(affinity.podAffinity), `${here}.podAffinity`),
    ...podAffinity(recordOf(affinity.podAntiAffinity), `${here}.podAntiAffinity`),
  ];
};

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];

export const validateSpreading = (spec: Json, field: string): StatusCause[] =>
  validateItems(spec, 'topologySpreadConstraints', field, ({ maxSkew, topologyKey, whenUnsatisfiable }, here) => [
    ...(Number(maxSkew ?? 0) > 0 ? [] : [invalidValue(`${here}.maxSkew`, maxSkew ?? 0, 'must be greater than zero')]),
    ...nonEmpty(`${here}.topologyKey`, topologyKey, 'can not be empty'),
    ...oneOf(`${here}.whenUnsatisfiable`, whenUnsatisfiable, ACTIONS),
  ]);
