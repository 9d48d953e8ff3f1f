import { createGroupedMap } from '../../grouped-map.ts';
import type { StoredObject } from '../../types.ts';
import { at, textOf } from '../json.ts';
import type { ObjectStore } from './store.ts';

/** An index of pods by node, for kubelets and `kubectl describe node`. */
export interface PodIndex {
  /** In key order. */
  onNode(node: string): StoredObject[];
}

const nodeOf = (pod: StoredObject | undefined): string => textOf(at(pod, 'spec', 'nodeName'));

export const createPodIndex = (store: ObjectStore): PodIndex => {
  const byNode = createGroupedMap<StoredObject>();
  store.onCommit(({ collection, type, key, object, previous }) => {
    if (collection !== 'pods') return;
    const node = nodeOf(object);
    const before = nodeOf(previous);
    if (before !== '' && (before !== node || type === 'DELETED')) byNode.delete(before, key);
    if (node !== '' && type !== 'DELETED') byNode.set(node, key, object);
  });
  return {
    onNode: (node) => [...byNode.get(node)].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object),
  };
};
