import { isEligible, matches, type NodeFacts, type NodeInfo } from '../rollout/index.ts';
import type { DaemonSetView } from './kind.ts';

/** A node as one DaemonSet sees it under its present template and policy; `pulls`: an agent there pulls images. */
export const nodeFactsOf = (view: DaemonSetView, node: NodeInfo, pulls = false): NodeFacts => {
  const { nodeSelector, topologyKey } = view.policy.policy;
  return {
    name: node.name,
    ready: node.ready,
    readyChangedAt: node.readyChangedAt,
    eligible: isEligible(view.needs, node),
    selected: nodeSelector === undefined || matches(nodeSelector, node.labels),
    zone: topologyKey === undefined ? '' : (node.labels[topologyKey] ?? ''),
    ...((pulls || node.hasImageAgent) && { hasImageAgent: true }),
  };
};
