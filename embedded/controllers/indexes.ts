import { nodes, pods } from '../../src/kube/index.ts';
import { type NodeInfo, toNodeInfo } from '../../src/rollout/index.ts';
import { createGroupedMap } from '../grouped-map.ts';
import type { StoredNode, StoredPod } from '../resources.ts';
import type { InformerEvent, Informers } from './informers.ts';

/** The pods that are bound to a node. */
export const createPodsByNode = (informers: Informers): ((node: string) => readonly StoredPod[]) => {
  const byNode = createGroupedMap<StoredPod>();
  informers.addHandler(pods, ({ type, object }: InformerEvent<StoredPod>) => {
    const node = object.spec?.nodeName;
    if (!node) return;
    if (type === 'DELETED') byNode.delete(node, object.metadata.uid);
    else byNode.set(node, object.metadata.uid, object);
  });
  return (node) => [...byNode.get(node).values()];
};

const placementData = ({ metadata, spec }: StoredNode): string => JSON.stringify([metadata.labels, spec?.taints]);

/** Most updates share these parts with the node before. */
const hasSamePlacement = (one: StoredNode, other: StoredNode): boolean =>
  (one.metadata.labels === other.metadata.labels && one.spec?.taints === other.spec?.taints) ||
  placementData(one) === placementData(other);

/** The nodes in the order in which they were added. `onChange` is called for new nodes, labels and taints. */
export const createNodeInfos = (
  informers: Informers,
  onChange: (node: NodeInfo) => void,
): ReadonlyMap<string, NodeInfo> => {
  const infos = new Map<string, NodeInfo>();
  informers.addHandler(nodes, ({ type, object, previous }: InformerEvent<StoredNode>) => {
    const { name } = object.metadata;
    if (type === 'DELETED') {
      infos.delete(name);
      return;
    }
    if (previous && infos.has(name) && hasSamePlacement(object, previous)) return;
    const info = toNodeInfo(object);
    infos.set(name, info);
    onChange(info);
  });
  return infos;
};
