import { toLines } from '../../../text/index.ts';
import {
  type ConnectionFlags,
  type Named,
  type OutputFormat,
  readNames,
  watchDaemonSets,
  withCluster,
} from '../../../view/index.ts';
import type { Io } from '../../io.ts';
import { showContexts } from './contexts.ts';
import { notesOf } from './notes.ts';
import { noRolloutOf, readClusterStatus, scopeOf, unservedRows, type Wanted } from './read.ts';
import { createStatusView, isTable } from './view.ts';
import { watchStatus } from './watch.ts';

export interface StatusFlags extends ConnectionFlags {
  allNamespaces?: boolean;
  selector?: string;
  output?: OutputFormat;
  watch?: boolean;
  /** Several contexts of the kubeconfig, instead of one; each once. */
  contexts?: readonly string[];
}

/** How a DaemonSet opts in, for those who have none yet. */
const OPT_IN = [
  'To roll out a DaemonSet with edgeset, add these two lines of YAML to it:',
  '  metadata: {annotations: {apps.openyurt.io/update-strategy: auto}}',
  '  spec: {updateStrategy: {type: OnDelete}}',
];

const noneText = (place: string, selector: string | undefined, named: readonly Named[]): string[] => {
  if (selector !== undefined) return [`No rollouts match the selector in ${place}.`];
  return [`No rollouts in ${place}.`, ...(named.length > 0 ? [] : OPT_IN)];
};

const showCluster = async (flags: StatusFlags, wanted: Wanted, io: Io): Promise<void> => {
  const { output, watch = false } = flags;
  const { named, allNamespaces, selector, table } = wanted;
  await withCluster(flags, io, async (connection) => {
    const { place, where, isShown, daemonSets: sets } = scopeOf(connection, wanted);
    // Before watching, too: an error ends the command here, while a watch would retry forever.
    const status = await readClusterStatus(connection, wanted);
    const { rows, daemonSets, missing } = status;
    const noRollout = () =>
      // Somebody who looks in all namespaces has yet to find the right one.
      noRolloutOf(missing, place, allNamespaces ? (words) => io.edgeset(words, 'NAMESPACE') : connection.edgeset);
    if (missing.length > 0 && rows.length === 0 && !watch) throw noRollout();
    if (rows.length === 0) io.stderr(toLines(...noneText(place, selector, named)));
    const view = createStatusView(output, {
      namespaces: allNamespaces,
      single: named.length === 1,
      stages: named.length > 0,
      doubt: (rollout) => daemonSets.doubt(rollout),
      paint: io.paint,
    });
    if (watch) {
      await watchStatus({
        connection,
        where,
        isShown,
        view,
        follow: (onChange) => watchDaemonSets(connection, sets, daemonSets, onChange),
        unserved: (rollouts) => unservedRows(daemonSets, wanted, rollouts),
        io,
      });
      return;
    }
    if (rows.length > 0 || output === 'json' || output === 'yaml') io.print(view.all(rows, connection.env.clock.now()));
    const notes = await notesOf(connection, status, { conditions: named.length > 0 && table });
    io.stderr(toLines(...notes.map((note) => `Note: ${note}`)));
    // As kubectl does: what there is, and an error for the rest.
    if (missing.length > 0) throw noRollout();
  });
};

/** Prints rollouts of one cluster, or of several, once; those of one cluster also on every change until interrupted. */
export const showStatus = async (words: readonly string[], flags: StatusFlags, io: Io): Promise<void> => {
  const { output, allNamespaces = false, selector, contexts } = flags;
  const wanted = { named: readNames(words), allNamespaces, selector, table: isTable(output) };
  await (contexts ? showContexts(contexts, flags, wanted, io) : showCluster(flags, wanted, io));
};
