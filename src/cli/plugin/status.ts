import { daemonRollouts } from '../../controller/index.ts';
import { isKubeError, type ListOptions } from '../../kube/index.ts';
import type { DaemonRollout } from '../../rollout/index.ts';
import type { Io } from '../io.ts';
import { type Connection, withCluster } from './connect.ts';
import { CommandFailure } from './failure.ts';
import { listAll } from './list-all.ts';
import type { StatusFlags } from './status-command.ts';
import { followStatus } from './status-follow.ts';
import { createStatusView } from './status-view.ts';
import { readDaemonSetName } from './text.ts';

const listRollouts = async ({ client }: Connection, where: ListOptions): Promise<DaemonRollout[]> => {
  try {
    return await listAll(client, daemonRollouts, where);
  } catch (error) {
    // A list is never "not found": the kind itself is not served.
    if (!isKubeError(error, 'NotFound')) throw error;
    throw new CommandFailure(
      'NotInstalled',
      'the cluster does not know DaemonRollouts: install their definition with "kubectl edgeset crds | kubectl apply -f -", and the manager',
      error,
    );
  }
};

/** Prints rollouts once, or at every change until interrupted. */
export const showStatus = async (name: string | undefined, flags: StatusFlags, io: Io): Promise<void> => {
  const { output, allNamespaces = false, selector, watch = false } = flags;
  const wanted = name === undefined ? undefined : readDaemonSetName(name);
  const view = createStatusView(output, { namespaces: allNamespaces, single: wanted !== undefined });
  await withCluster(flags, io, async (connection) => {
    const where = {
      ...(!allNamespaces && { namespace: connection.namespace }),
      ...(selector !== undefined && { labelSelector: selector }),
      ...(wanted !== undefined && { fieldSelector: `metadata.name=${wanted}` }),
    };
    const place = allNamespaces ? 'any namespace' : `namespace ${connection.namespace}`;
    // Also before watching: a refusal ends the command here, where a watch would try on and on.
    const items = await listRollouts(connection, where);
    if (wanted !== undefined && items.length === 0 && !watch)
      throw new CommandFailure(
        'NotFound',
        `there is no rollout of a DaemonSet ${wanted} in ${place}: "kubectl edgeset explain ds/${wanted}" says why`,
      );
    if (items.length === 0) io.stderr(`No rollouts in ${place}.\n`);
    if (watch) {
      const table = output === undefined || output === 'wide';
      await followStatus({ connection, where, view, table, io });
      return;
    }
    if (items.length > 0 || output === 'json' || output === 'yaml')
      io.stdout(view.all(items, connection.env.clock.now()));
  });
};
