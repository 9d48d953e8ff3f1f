import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from 'kubernetes-types/core/v1.d.ts';
import type { NodeInfo } from '../facts/types.ts';
import { makeRequirement, type Operator, operators, type Requirement } from './requirement.ts';
import { matches } from './selector.ts';

/** The one field of a Node that affinity terms can speak of. */
export const NAME_FIELD = 'metadata.name';

interface FieldRequirement {
  readonly field: string;
  readonly operator: 'In' | 'NotIn';
  readonly value: string;
}

/** One way to fulfil a required node affinity: all of its requirements hold. */
export interface AffinityTerm {
  readonly labels: readonly Requirement[];
  readonly fields: readonly FieldRequirement[];
}

const isOperator = (text: string): text is Operator => (operators as readonly string[]).includes(text);

const readLabels = ({ key, operator, values }: NodeSelectorRequirement): Requirement | undefined => {
  if (!isOperator(operator)) return undefined;
  const made = makeRequirement(key, operator, values ?? []);
  return made.ok ? made.requirement : undefined;
};

const readField = ({ key, operator, values = [] }: NodeSelectorRequirement): FieldRequirement | undefined => {
  const [value, ...others] = values;
  return (operator === 'In' || operator === 'NotIn') && value !== undefined && others.length === 0
    ? { field: key, operator, value }
    : undefined;
};

const allDefined = <T>(items: readonly (T | undefined)[]): items is readonly T[] =>
  items.every((item) => item !== undefined);

// A term without requirements, and one with a requirement that cannot be read, match no node: the API server lets old
// objects keep label values that it would refuse today, and the native controller passes over their terms in silence.
const readTerm = ({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): AffinityTerm[] => {
  if (matchExpressions.length + matchFields.length === 0) return [];
  const labels = matchExpressions.map(readLabels);
  const fields = matchFields.map(readField);
  return allDefined(labels) && allDefined(fields) ? [{ labels, fields }] : [];
};

/** The terms that can match; undefined where there is no required affinity, which any node fulfils. */
export const readAffinity = (required: NodeSelector | undefined): readonly AffinityTerm[] | undefined =>
  required?.nodeSelectorTerms.flatMap(readTerm);

const matchesField = (node: NodeInfo, { field, operator, value }: FieldRequirement): boolean =>
  ((field === NAME_FIELD ? node.name : '') === value) === (operator === 'In');

export const matchesTerm = (node: NodeInfo, term: AffinityTerm): boolean =>
  matches(term.labels, node.labels) && term.fields.every((requirement) => matchesField(node, requirement));
