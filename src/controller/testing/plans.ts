import { type ParsedPolicy, type Policy, parsePolicy, withPlan } from '../../rollout/index.ts';
import type { RolloutPlanSpec } from '../../words/index.ts';

/** The policy of a DaemonSet that the manager updates, with a cluster plan of this spec. */
export const policyWithPlan = (spec?: RolloutPlanSpec): Policy => {
  const annotations = {
    'apps.openyurt.io/update-strategy': 'auto',
    ...(spec && { 'edgeset.io/rollout-plan': 'cluster/plan' }),
  };
  const own: ParsedPolicy = parsePolicy({ annotations, updateStrategyType: 'OnDelete', minReadySeconds: 0 });
  const parsed = own.kind === 'off' ? own : withPlan(own, () => spec && { spec });
  if (parsed.kind !== 'on') throw new Error(`the policy must be valid: ${JSON.stringify(parsed)}`);
  return parsed.policy;
};
