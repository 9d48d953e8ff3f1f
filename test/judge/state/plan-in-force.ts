import type { RolloutPlanSpec } from '../../../src/words/index.ts';
import { UNCOMPILABLE_CONDITION } from '../../simulation/network/prometheus.ts';

/**
 * What of a DaemonSet's plan is in force: an invalid one permits as little as one that does not exist. The simulation's invalid plans
 * have a condition that does not compile, or name their DaemonSet in `after`.
 */
export const planInForce = (
  spec: RolloutPlanSpec,
  { group, name }: { group: string; name: string },
): RolloutPlanSpec | undefined => {
  const { checks = [], after = [] } = spec;
  const isUncompilable = checks.some(({ prometheus }) => prometheus?.condition === UNCOMPILABLE_CONDITION);
  const isCycle = after.some(({ apiGroup = 'apps', ...other }) => apiGroup === group && other.name === name);
  return isUncompilable || isCycle ? undefined : spec;
};
