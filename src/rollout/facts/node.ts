import type { Node } from 'kubernetes-types/core/v1.d.ts';
import { toEpochMs } from './metadata.ts';
import type { NodeInfo } from './types.ts';

/** On a Node, and as a label on an agent's pod: an agent is there that pulls images by itself. */
export const IMAGE_AGENT = 'edgeset.io/image-agent';

/** What rollouts need of a Node. A node that never reported is not ready. */
export const toNodeInfo = (node: Node): NodeInfo => {
  const condition = node.status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    name: node.metadata?.name ?? '',
    labels: node.metadata?.labels ?? {},
    taints: (node.spec?.taints ?? []).map(({ key, value = '', effect }) => ({ key, value, effect })),
    ready: condition?.status === 'True',
    readyChangedAt: toEpochMs(condition?.lastTransitionTime),
    ...(node.metadata?.annotations?.[IMAGE_AGENT] === 'true' && { hasImageAgent: true }),
  };
};
