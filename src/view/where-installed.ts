import { isKubeError } from '../kube/index.ts';
import { type Connection, INSTALL_CRDS } from './connection.ts';
import { CommandError } from './errors.ts';

/** What a list of DaemonRollouts gives. Rejects with a `CommandError` where the cluster does not have the kind. */
export const whereInstalled = async <T>({ edgeset }: Pick<Connection, 'edgeset'>, listing: Promise<T>): Promise<T> => {
  try {
    return await listing;
  } catch (error) {
    // A list is never NotFound, unless the API server does not have the kind.
    if (!isKubeError(error, 'NotFound')) throw error;
    throw new CommandError(
      'NotInstalled',
      `the cluster has no CRD for DaemonRollouts: install it with "${edgeset(INSTALL_CRDS)}", and install the manager`,
      error,
    );
  }
};
