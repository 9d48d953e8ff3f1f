import { readPlan } from '../../controller/index.ts';
import type { CallOptions } from '../../kube/index.ts';
import { type ParsedPolicy, withPlan } from '../../rollout/index.ts';
import type { Connection } from '../../view/index.ts';

/** `plan`: as the status names it. Whether it requires an approval of the stage. Undefined if the user may not read the plan, or it has no such stage. */
export const requiresApproval = async (
  { client, namespace }: Connection,
  plan: string,
  stage: string,
): Promise<boolean | undefined> => {
  const [, cluster, name = ''] = /^(cluster\/)?(.*)$/s.exec(plan) ?? [];
  const read = await readPlan(client, namespace, { name, cluster: cluster !== undefined });
  const found = read === 'unreadable' ? undefined : read?.spec.stages?.find((one) => one.name === stage);
  return found && (found.promote?.approval?.required ?? false);
};

/** The policy with the plan that it names. Undefined if the user may not read that plan. */
export const policyWithPlan = async (
  { client, namespace }: Connection,
  policy: Exclude<ParsedPolicy, { kind: 'off' }>,
  call: CallOptions,
): Promise<Exclude<ParsedPolicy, { kind: 'off' }> | undefined> => {
  const { rolloutPlan } = policy.policy;
  if (!rolloutPlan) return policy;
  const read = await readPlan(client, namespace, rolloutPlan, call);
  return read === 'unreadable' ? undefined : withPlan(policy, () => read);
};
