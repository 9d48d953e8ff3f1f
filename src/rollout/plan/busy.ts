import type { NodeInfo } from '../facts/node.ts';
import { matches } from '../facts/selector.ts';
import type { Plan } from '../policy/plan-terms.ts';

/** Why the plan skips the node for now, as a noun; undefined: it does not. */
export const busyBy = (
  { busy }: Pick<Plan, 'busy'>,
  { labels, taints, conditions = [] }: Pick<NodeInfo, 'labels' | 'taints' | 'conditions'>,
): string | undefined => {
  if (!busy) return undefined;
  const taint = taints.find(({ key }) => busy.taints.has(key));
  if (taint) return `the taint ${taint.key}`;
  const condition = conditions.find((type) => busy.conditions.has(type));
  if (condition !== undefined) return `the condition ${condition}`;
  return busy.selector && matches(busy.selector, labels) ? 'labels that the selector matches' : undefined;
};
