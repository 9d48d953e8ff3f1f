import { type Policy, parsePolicy } from '../policy/policy.ts';

/** The policy that an annotation `auto` alone gives, changed where a test needs it. */
export const policyWith = (change: Partial<Policy> = {}): Policy => {
  const parsed = parsePolicy({
    annotations: { 'apps.openyurt.io/update-strategy': 'auto' },
    updateStrategyType: 'OnDelete',
    minReadySeconds: 0,
  });
  if (parsed.kind !== 'on') throw new Error('the policy of the annotation alone must be valid');
  return { ...parsed.policy, ...change };
};
