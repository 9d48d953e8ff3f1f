import { ifFound, isKubeError, leases } from '../../../kube/index.ts';
import { sleep } from '../../../runtime/index.ts';
import type { Connection } from '../connection.ts';
import { formatSeconds } from '../text.ts';

/** Where `deploy/` has the manager keep its Lease. */
const LEASE = { namespace: 'edgeset-system', name: 'edgeset-manager' };
/** A leader renews more often. The second look doesn't depend on what this machine's clock says. */
const SECOND_LOOK_MS = 4_000;

/** The Lease, as far as the user may read it. */
const readLease = async ({ client }: Connection) => {
  try {
    return (await ifFound(client.get(leases, LEASE)))?.spec;
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return undefined;
    throw error;
  }
};

/** A sentence if the Lease says that no manager is running; undefined otherwise, and if nothing is known. */
export const absentManager = async (connection: Connection): Promise<string | undefined> => {
  const { clock } = connection.env;
  const spec = await readLease(connection);
  if (!spec) return undefined;
  const name = `${LEASE.namespace}/${LEASE.name}`;
  if (!spec.holderIdentity) return `No manager holds the Lease ${name}: it was stopped.`;
  const age = clock.now() - Date.parse(spec.renewTime ?? '');
  if (age <= 2_000 * (spec.leaseDurationSeconds ?? 15)) return undefined;
  await sleep(clock, SECOND_LOOK_MS, new AbortController().signal);
  if ((await readLease(connection))?.renewTime !== spec.renewTime) return undefined;
  return `The manager's Lease ${name} was last renewed ${formatSeconds(age / 1000)} ago: it is not running, or has no connection.`;
};
