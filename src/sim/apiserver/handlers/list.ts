import type { StoredObject } from '../../types.ts';
import type { Kind } from '../registry/index.ts';
import { parseFieldSelector, parseLabelSelector } from '../selectors/index.ts';
import { at, type Json, recordOf } from '../value/index.ts';
import { fromStorageVersion, type ServerState } from './state.ts';

export interface Selection {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
}

export interface Filter {
  /** Absent: everything matches. */
  readonly matches: ((object: Json) => boolean) | undefined;
  /** Of pods: the one node that is asked for. */
  readonly node: string | undefined;
}

/** The test for a selection, on objects as the kind's version shows them. */
export const parseSelection = (kind: Kind, selection: Selection): Filter => {
  const labels = parseLabelSelector(selection.labelSelector);
  const fields = parseFieldSelector(selection.fieldSelector, kind.fields);
  const byLabels = labels && ((object: Json) => labels(recordOf(at(object, 'metadata', 'labels'))));
  const byFields = fields?.test;
  return {
    matches: byLabels && byFields ? (object) => byLabels(object) && byFields(object) : (byLabels ?? byFields),
    node: kind.collection === 'pods' ? fields?.pinned.get('spec.nodeName') : undefined,
  };
};

export const keyPrefix = (kind: Kind, namespace: string | undefined): string =>
  kind.namespaced && namespace ? `${namespace}/` : '';

/** The present objects that are selected, in the order of their keys. */
export const listObjects = (state: ServerState, kind: Kind, selection: Selection = {}): readonly StoredObject[] => {
  const { matches, node } = parseSelection(kind, selection);
  const { namespace } = selection;
  const stored = node
    ? state.pods.onNode(node).filter((pod) => !namespace || pod.metadata.namespace === namespace)
    : state.store.list(kind.collection, keyPrefix(kind, namespace));
  const seen = kind.fromStorageVersion ? stored.map((object) => fromStorageVersion(kind, object)) : stored;
  return matches ? seen.filter(matches) : seen;
};
