import { boolean, objectName } from '../process/index.ts';
import { OptionError, parseDuration } from '../runtime/index.ts';

/** The flags as typed. */
export interface LeaderElectionFlags {
  /** `true` when set without a value. */
  leaderElect?: string | boolean;
  leaderElectionNamespace?: string;
  leaderElectionId?: string;
  leaderElectionLeaseDuration?: string;
  leaderElectionRenewDeadline?: string;
  leaderElectionRetryPeriod?: string;
}

export interface LeaderElectionDefaults {
  /** Name of the Lease. */
  id: string;
  /** Namespace of the own pod; undefined outside a cluster. */
  podNamespace: string | undefined;
}

export interface LeaderElectionOptions {
  /** Namespace of the Lease. Default: that of the pod, otherwise `edgeset-system`. */
  namespace: string;
  /** Name of the Lease. */
  id: string;
  /** How long other candidates wait after the last renewal. Default 15 s. */
  leaseDurationMs: number;
  /** How long the leader tries to renew before it stops leading. Default 10 s; less than the lease duration. */
  renewDeadlineMs: number;
  /** Between attempts to acquire or renew. Default 2 s; less than the renew deadline. */
  retryPeriodMs: number;
}

/** Of a process outside of a cluster. */
export const DEFAULT_NAMESPACE = 'edgeset-system';

/** Validates the flags. Undefined: no election. Throws an `OptionError` that names the first bad flag. */
export const resolveLeaderElection = (
  flags: LeaderElectionFlags,
  { id, podNamespace = DEFAULT_NAMESPACE }: LeaderElectionDefaults,
): LeaderElectionOptions | undefined => {
  const lease = '--leader-election-lease-duration';
  const deadline = '--leader-election-renew-deadline';
  const retry = '--leader-election-retry-period';
  const options = {
    namespace: objectName('--leader-election-namespace', flags.leaderElectionNamespace ?? podNamespace, 'label'),
    id: objectName('--leader-election-id', flags.leaderElectionId ?? id, 'subdomain'),
    leaseDurationMs: parseDuration(lease, flags.leaderElectionLeaseDuration ?? '15s'),
    renewDeadlineMs: parseDuration(deadline, flags.leaderElectionRenewDeadline ?? '10s'),
    retryPeriodMs: parseDuration(retry, flags.leaderElectionRetryPeriod ?? '2s'),
  };
  // A Lease stores whole seconds: other candidates would not see a fraction.
  if (options.leaseDurationMs % 1000 !== 0)
    throw new OptionError(lease, `${options.leaseDurationMs} ms is not a whole number of seconds: round it up`);
  if (options.renewDeadlineMs >= options.leaseDurationMs)
    throw new OptionError(deadline, `must be shorter than ${lease}: otherwise two processes could lead at once`);
  // Jitter adds up to a fifth to each retry.
  if (options.retryPeriodMs * 1.2 >= options.renewDeadlineMs)
    throw new OptionError(retry, `must be well below ${deadline}: otherwise one failed attempt loses the lease`);
  return boolean('--leader-elect', flags.leaderElect ?? true) ? options : undefined;
};
