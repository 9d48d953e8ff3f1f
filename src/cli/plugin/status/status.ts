import { daemonRollouts } from '../../../controller/index.ts';
import { isKubeError, type ListOptions } from '../../../kube/index.ts';
import type { DaemonRollout } from '../../../rollout/index.ts';
import type { StatusFlags } from '../../commands.ts';
import type { Io } from '../../io.ts';
import { type Connection, listAll, withCluster } from '../connection.ts';
import { CommandError } from '../errors.ts';
import { ambiguousName, kinds, readName } from '../kinds/names.ts';
import { native } from '../kinds/native.ts';
import { createStatusView } from './view.ts';
import { watchStatus } from './watch.ts';

const listRollouts = async ({ client }: Connection, where: ListOptions): Promise<DaemonRollout[]> => {
  try {
    return await listAll(client, daemonRollouts, where);
  } catch (error) {
    // A list is never NotFound, unless the API server does not have the kind.
    if (!isKubeError(error, 'NotFound')) throw error;
    throw new CommandError(
      'NotInstalled',
      'the cluster has no CRD for DaemonRollouts: install it with "kubectl edgeset crds | kubectl apply -f -", and install the manager',
      error,
    );
  }
};

/** Throws if DaemonSets of both kinds have this name in one namespace. */
const checkUnambiguous = (rollouts: readonly DaemonRollout[], name: string): void => {
  const seen = new Set<string | undefined>();
  for (const { metadata } of rollouts) {
    if (seen.has(metadata.namespace)) throw ambiguousName(metadata.namespace ?? '', name);
    seen.add(metadata.namespace);
  }
};

/** Prints rollouts once, or on every change until interrupted. */
export const showStatus = async (text: string | undefined, flags: StatusFlags, io: Io): Promise<void> => {
  const { output, allNamespaces = false, selector, watch = false } = flags;
  const wanted = text === undefined ? undefined : readName(text);
  const view = createStatusView(output, { namespaces: allNamespaces, single: wanted !== undefined });
  await withCluster(flags, io, async (connection) => {
    const scope = {
      ...(!allNamespaces && { namespace: connection.namespace }),
      ...(selector !== undefined && { labelSelector: selector }),
    };
    const place = allNamespaces ? 'any namespace' : `namespace ${connection.namespace}`;
    // A bare name can be of either kind, and each kind names its DaemonRollouts differently.
    const names = wanted && (wanted.kind ? [wanted.kind] : kinds).map((kind) => kind.rolloutName(wanted.name));
    const queries = names?.map((name) => ({ ...scope, fieldSelector: `metadata.name=${name}` })) ?? [scope];
    // List before watching, too: an error ends the command here, while a watch would retry forever.
    const items = (await Promise.all(queries.map((where) => listRollouts(connection, where)))).flat();
    if (wanted) checkUnambiguous(items, wanted.name);
    if (wanted && items.length === 0 && !watch) {
      const { title, short } = wanted.kind ?? native;
      throw new CommandError(
        'NotFound',
        `there is no rollout of ${title === native.title ? 'a' : 'an'} ${title} ${wanted.name} in ${place}: "kubectl edgeset explain ${wanted.kind ? `${short}/` : ''}${wanted.name}" says why`,
      );
    }
    if (items.length === 0) io.stderr(`No rollouts in ${place}.\n`);
    if (watch) {
      const [only = scope, ...others] = queries;
      const where = others.length === 0 ? only : scope;
      const table = output === undefined || output === 'wide';
      await watchStatus({ connection, where, names: names && new Set(names), view, table, io });
      return;
    }
    if (items.length > 0 || output === 'json' || output === 'yaml')
      io.stdout(view.all(items, connection.env.clock.now()));
  });
};
