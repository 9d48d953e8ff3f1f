import { daemonRollouts, type RolloutReading } from '../../controller/index.ts';
import { isKubeError } from '../../kube/index.ts';
import { NotOptedInError, readRollout } from '../../native/index.ts';
import { daemonSets } from '../../resources/index.ts';
import { controllerOf, type DaemonRolloutStatus } from '../../rollout/index.ts';
import type { Connection } from './connect.ts';
import { CommandFailure, daemonSetNotFound } from './failure.ts';

/**
 * Reads a DaemonSet's rollout as the manager would, with the `annotations` in place of its own. Rejects with a
 * `CommandFailure` where there is none to read, or with `NotOptedInError`.
 */
export const readFor = async (
  { client, env, namespace }: Connection,
  name: string,
  annotations: Readonly<Record<string, string>> = {},
): Promise<RolloutReading> => {
  try {
    return await readRollout({ client, clock: env.clock, namespace, name, annotations });
  } catch (error) {
    if (isKubeError(error, 'NotFound')) throw daemonSetNotFound(namespace, name, error);
    if (!(error instanceof NotOptedInError)) throw error;
    // One that is being deleted is nobody's business any more, whatever its annotations say.
    const { metadata } = await client.get(daemonSets, { namespace, name });
    if (metadata?.deletionTimestamp)
      throw new CommandFailure(
        'BeingDeleted',
        `DaemonSet ${namespace}/${name} is being deleted: nothing is rolled out`,
      );
    throw error;
  }
};

/** What the DaemonRollout of this name says of the DaemonSet with this UID; undefined while there is none. */
export const readStatus = async (
  { client, namespace }: Connection,
  name: string,
  daemonSetUid: string | undefined,
): Promise<DaemonRolloutStatus | undefined> => {
  try {
    const rollout = await client.get(daemonRollouts, { namespace, name });
    return controllerOf(rollout)?.uid === daemonSetUid ? rollout.status : undefined;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
};

/** What the cluster's objects say of the manager itself: whether what is decided here will be carried out. */
export const notesOnManager = ({ view, status, ledger }: RolloutReading): string[] => {
  if (!status)
    return [
      'No manager has recorded anything of this DaemonSet yet, so nobody acts: see whether edgeset-manager runs and serves this namespace.',
    ];
  const notes: string[] = [];
  if ((status.observedGeneration ?? 0) < view.generation)
    notes.push('The manager has not seen the present template yet: if this lasts, see whether it runs.');
  const refused = status.causes?.find(({ cause }) => cause === 'refused')?.count ?? 0;
  if (refused > 0)
    notes.push(
      `The API server refused the manager's act on ${refused} of the nodes: see Events FailedDelete of the DaemonSet ("kubectl describe ds/${view.name}").`,
    );
  const { warnings } = view.policy;
  notes.push(...warnings.map(({ field, value, problem, cure }) => `${field} "${value}" ${problem}: ${cure}.`));
  return ledger.tally.eligible === 0 ? [...notes, 'No node is eligible for this DaemonSet.'] : notes;
};
