import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import { ifFound, isKubeError, leases } from '../kube/index.ts';
import { writtenAt } from '../rollout/index.ts';
import { sleep } from '../runtime/index.ts';
import type { DaemonRollout } from '../words/index.ts';
import type { Connection } from './connection.ts';
import { formatSeconds } from './tables.ts';

/** Where `deploy/` has the manager keep its Lease. */
const LEASE = { namespace: 'edgeset-system', name: 'edgeset-manager' };
const NAME = `${LEASE.namespace}/${LEASE.name}`;
/** A leader renews more often. The second look doesn't depend on what this machine's clock says. */
const SECOND_LOOK_MS = 4_000;
/** A manager without leader election has no Lease, and leaves an old one as it is. */
const WITHOUT_ELECTION = 'unless one runs with --leader-elect=false';

/** What its Lease says of the manager. `why` and `how` are sentences without their full stop. */
export type ManagerState =
  | { kind: 'running'; how: string }
  | { kind: 'absent'; why: string }
  /** There is no Lease, the user may not read it, or a manager works without it. */
  | { kind: 'unknown' };

/** The Lease, as far as the user may read it. */
const readLease = async ({ client }: Connection): Promise<Lease | undefined> => {
  try {
    return await ifFound(client.get(leases, LEASE));
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return undefined;
    throw error;
  }
};

/** A status was written after the holder of this Lease can have been one: by a manager that has none. */
const worksWithoutLease = (lease: Lease, rollouts: readonly DaemonRollout[]): boolean => {
  const leftAt = writtenAt(lease.metadata, { path: [] }) ?? Date.parse(lease.spec?.renewTime ?? '');
  const endedAt = leftAt + 1_000 * (lease.spec?.leaseDurationSeconds ?? 15);
  return rollouts.some((rollout) => (writtenAt(rollout.metadata, { path: [], subresource: 'status' }) ?? 0) > endedAt);
};

/** Whether a manager is running. `readRollouts`: those in question, of which the last writes tell. */
export const managerState = async (
  connection: Connection,
  readRollouts: () => Promise<readonly DaemonRollout[]>,
): Promise<ManagerState> => {
  const { clock } = connection.env;
  const lease = await readLease(connection);
  const { spec } = lease ?? {};
  if (!lease || !spec) return { kind: 'unknown' };
  const running = (): ManagerState => ({ kind: 'running', how: `${spec.holderIdentity} holds the Lease ${NAME}` });
  const absent = async (why: string): Promise<ManagerState> =>
    worksWithoutLease(lease, await readRollouts())
      ? { kind: 'unknown' }
      : { kind: 'absent', why: `${why}, ${WITHOUT_ELECTION}` };
  if (!spec.holderIdentity) return absent(`No manager holds the Lease ${NAME}: it was stopped`);
  const age = clock.now() - Date.parse(spec.renewTime ?? '');
  if (age <= 2_000 * (spec.leaseDurationSeconds ?? 15)) return running();
  await sleep(clock, SECOND_LOOK_MS, new AbortController().signal);
  if ((await readLease(connection))?.spec?.renewTime !== spec.renewTime) return running();
  const since = formatSeconds(age / 1000);
  return absent(`The manager's Lease ${NAME} was last renewed ${since} ago: it is not running, or has no connection`);
};
