import type { ParsedPolicy } from '../rollout/index.ts';
import { OptionError } from '../runtime/index.ts';
import type { DaemonSetKind, Overrides } from '../view/index.ts';

/** The flags that stand for settings of the DaemonSet. */
const flagOf: Readonly<Record<keyof Overrides, string>> = {
  maxUnavailable: '--max-unavailable',
  partition: '--partition',
  nodeSelector: '--node-selector',
  unpaused: '--unpaused',
};

/** Throws an `OptionError` if the policy is invalid because of a flag. `policy`: with the flags applied. */
export const refuseInvalidFlags = ({ fields }: DaemonSetKind, policy: ParsedPolicy, flags: Overrides): void => {
  for (const error of policy.kind === 'invalid' ? policy.errors : [])
    for (const key of ['maxUnavailable', 'partition', 'nodeSelector', 'unpaused'] as const)
      if (error.field === fields[key] && flags[key] !== undefined)
        throw new OptionError(flagOf[key], `"${error.value}" ${error.problem}: ${error.remedy}`);
};
