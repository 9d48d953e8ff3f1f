import {
  type HistoryOptions,
  historyData,
  historyText,
  listRevisions,
  loadRolloutHistory,
} from '../../commands/index.ts';
import { toLines } from '../../text/index.ts';
import { type ConnectionFlags, type OutputFormat, readName, structured, withCluster } from '../../view/index.ts';
import type { Io } from '../io.ts';

export interface HistoryFlags extends ConnectionFlags, HistoryOptions {
  output?: OutputFormat;
}

/** Prints the revisions of a DaemonSet and its last rollouts, or one revision. */
export const showHistory = async (name: string, flags: HistoryFlags, io: Io): Promise<void> => {
  const named = readName(name);
  const { output } = flags;
  await withCluster(flags, io, async (connection) => {
    if (output === 'name') {
      const { revisions } = await listRevisions(connection, named, flags);
      io.stdout(toLines(...revisions.map((revision) => `controllerrevision.apps/${revision.name}`)));
      return;
    }
    const history = await loadRolloutHistory(connection, named, flags);
    if (output === 'json' || output === 'yaml') {
      io.stdout(structured(historyData(history), output));
      return;
    }
    const { text, notes } = historyText(history, output === 'wide', io.paint);
    io.print(text);
    io.stderr(toLines(...notes));
  });
};
