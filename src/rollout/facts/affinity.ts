import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from 'kubernetes-types/core/v1.d.ts';
import type { NodeInfo } from './node.ts';
import { isOperator, makeRequirement, type Requirement } from './requirement.ts';
import { matches } from './selector.ts';

/** The only field of a Node that affinity terms support. */
export const NAME_FIELD = 'metadata.name';

interface FieldRequirement {
  readonly field: string;
  readonly operator: 'In' | 'NotIn';
  readonly value: string;
}

/** One term of a required node affinity. It matches if all of its requirements hold; one matching term is enough. */
export interface AffinityTerm {
  readonly labels: readonly Requirement[];
  readonly fields: readonly FieldRequirement[];
}

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

// A term without requirements, or with an invalid one, matches no node: the API server lets old objects keep label values
// that it would refuse today, and the native controller silently ignores their terms.
const readTerm = ({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): AffinityTerm[] => {
  if (matchExpressions.length + matchFields.length === 0) return [];
  const labels = matchExpressions.map(readLabels);
  const fields = matchFields.map(readField);
  return allDefined(labels) && allDefined(fields) ? [{ labels, fields }] : [];
};

/** The terms that can match; undefined without a required affinity, which every node satisfies. */
export const readAffinity = (required: NodeSelector | undefined): readonly AffinityTerm[] | undefined =>
  required?.nodeSelectorTerms.flatMap(readTerm);

const matchesField = (node: NodeInfo, { field, operator, value }: FieldRequirement): boolean =>
  ((field === NAME_FIELD ? node.name : '') === value) === (operator === 'In');

export const matchesTerm = (node: NodeInfo, term: AffinityTerm): boolean =>
  matches(term.labels, node.labels) && term.fields.every((requirement) => matchesField(node, requirement));
