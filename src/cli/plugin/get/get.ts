import { nodes, pods } from '../../../kube/index.ts';
import { toLines } from '../../../text/index.ts';
import {
  type ConnectionFlags,
  findKind,
  type OutputFormat,
  readDaemonSet,
  readName,
  readRolloutOf,
  rightsNote,
  withCluster,
} from '../../../view/index.ts';
import type { Phase } from '../../../words/index.ts';
import type { Io } from '../../io.ts';
import { followRollout } from './follow.ts';
import { createNodeRowsView, nodeRows } from './node-rows.ts';

export interface GetFlags extends ConnectionFlags {
  output?: OutputFormat;
  /** Only the nodes in these phases. */
  phase?: readonly Phase[];
  watch?: boolean;
}

const noneText = (phase: readonly Phase[] | undefined): string =>
  phase ? `No node is ${phase.join(' or ')}.` : 'No node is eligible for this DaemonSet.';

/** Lists the nodes of a rollout, or follows them until interrupted. */
export const getNodes = async (
  text: string,
  { output, phase, watch = false, ...flags }: GetFlags,
  io: Io,
): Promise<void> => {
  const named = readName(text);
  await withCluster(flags, io, async (connection) => {
    const { client, env, namespace } = connection;
    if (!watch) {
      const reading = await readRolloutOf(connection, named);
      const view = createNodeRowsView(output, io.paint);
      const { print } = io;
      const rows = nodeRows(reading).filter((row) => phase?.includes(row.phase) ?? true);
      if (view.table && rows.length === 0) io.stderr(toLines(noneText(phase)));
      else print(view.all(reading, rows, env.clock.now()));
      const rights = rightsNote(reading);
      if (rights !== undefined) io.stderr(toLines(`Note: ${rights}`));
      return;
    }
    // Read before watching: an error ends the command here, while a watch would retry forever.
    const kind = await findKind(connection, named);
    const { policy } = await readDaemonSet(connection, kind, named.name);
    if (policy.kind === 'off') throw kind.notServed(namespace, named.name);
    await Promise.all([client.list(nodes, { limit: 1 }), client.list(pods, { namespace, limit: 1 })]);
    await followRollout(connection, kind, named.name, output, io);
  });
};
