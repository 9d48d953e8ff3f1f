import { type KeptPod, pods } from '../resources.ts';
import type { Feed, Sight } from './feed.ts';

/** The pods that are bound to a node, as the feed has told of them. */
export const createPodsByNode = (feed: Feed): ((node: string) => readonly KeptPod[]) => {
  const byNode = new Map<string, Map<string, KeptPod>>();
  feed.on(pods, ({ type, object }: Sight<KeptPod>) => {
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
