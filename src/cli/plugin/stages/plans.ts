import { clusterRolloutPlans, rolloutPlans } from '../../../controller/index.ts';
import { type CallOptions, ifFound, isKubeError } from '../../../kube/index.ts';
import { type ParsedPolicy, type PlanName, type RolloutPlanObject, withPlan } from '../../../rollout/index.ts';
import type { Connection } from '../connection.ts';

/** Undefined if there is none. `unreadable`: the user may not read it. */
const readPlan = async (
  { client, namespace }: Connection,
  { name, cluster }: PlanName,
  call: CallOptions = {},
): Promise<RolloutPlanObject | 'unreadable' | undefined> => {
  try {
    return await ifFound(
      cluster ? client.get(clusterRolloutPlans, { name }, call) : client.get(rolloutPlans, { namespace, name }, call),
    );
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return 'unreadable';
    throw error;
  }
};

/** `plan`: as the status names it. Whether it requires an approval of the stage. Undefined if the user may not read the plan, or it has no such stage. */
export const requiresApproval = async (
  connection: Connection,
  plan: string,
  stage: string,
): Promise<boolean | undefined> => {
  const [, cluster, name = ''] = /^(cluster\/)?(.*)$/s.exec(plan) ?? [];
  const read = await readPlan(connection, { name, cluster: cluster !== undefined });
  const found = read === 'unreadable' ? undefined : read?.spec.stages?.find((one) => one.name === stage);
  return found && (found.promote?.approval?.required ?? false);
};

/** The policy with the plan that it names. Undefined if the user may not read that plan. */
export const policyWithPlan = async (
  connection: Connection,
  policy: Exclude<ParsedPolicy, { kind: 'off' }>,
  call: CallOptions,
): Promise<Exclude<ParsedPolicy, { kind: 'off' }> | undefined> => {
  const { rolloutPlan } = policy.policy;
  if (!rolloutPlan) return policy;
  const read = await readPlan(connection, rolloutPlan, call);
  return read === 'unreadable' ? undefined : withPlan(policy, () => read);
};
