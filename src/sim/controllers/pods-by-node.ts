import { pods, type StoredPod } from '../resources.ts';
import type { InformerEvent, Informers } from './informers.ts';

/** The pods that are bound to a node, as the informers has told of them. */
export const createPodsByNode = (informers: Informers): ((node: string) => readonly StoredPod[]) => {
  const byNode = new Map<string, Map<string, StoredPod>>();
  informers.addHandler(pods, ({ type, object }: InformerEvent<StoredPod>) => {
    const node = object.spec?.nodeName;
    if (!node) return;
    const present = byNode.get(node);
    if (type !== 'DELETED') {
      if (present) present.set(object.metadata.uid, object);
      else byNode.set(node, new Map([[object.metadata.uid, object]]));
      return;
    }
    present?.delete(object.metadata.uid);
    if (present?.size === 0) byNode.delete(node);
  });
  return (node) => [...(byNode.get(node)?.values() ?? [])];
};
