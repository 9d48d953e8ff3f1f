import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import type { Case } from './case.ts';

/** Arguments of managers that compete for a lease of this duration. */
export const leaderElectionArgsFor = (leaseSeconds: number): string[] => [
  '--leader-elect=true',
  `--leader-election-lease-duration=${leaseSeconds}s`,
  `--leader-election-renew-deadline=${leaseSeconds - 1}s`,
  '--leader-election-retry-period=500ms',
];
export const leaderElectionArgs = leaderElectionArgsFor(4);

/** Log messages of a manager that lost the lease. */
export const leadershipLossLogs =
  /leadership lost|renew the lease|release the lease|lost leadership|processing failed|watch failed|a watch is down|the response to a write|acquire the lease|failed to write the status/;

/** The identity of the leader; empty while there is none. */
export const leaderOf = async (c: Case): Promise<string> => {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${c.namespace}/leases/edgeset-manager`;
  return (await c.api.get<Lease>(path)).spec?.holderIdentity ?? '';
};
