import { toLines } from '../escape.ts';
import type { Io } from '../io.ts';
import * as change from './change.ts';
import { type Connection, type ConnectionFlags, withCluster } from './connection.ts';
import { undo as undoRollout } from './history/undo.ts';
import { type Named, readName } from './kinds/names.ts';
import * as pausing from './pause.ts';
import { setPolicy as setRolloutPolicy } from './set.ts';
import * as stages from './stages/approve.ts';
import { structured, withoutManagedFields } from './text.ts';

// The commands that write, as the command line calls them.

type OfCommandLine<O> = O & ConnectionFlags & { output?: 'json' | 'yaml' | 'name' };

/** Runs a command, and prints what it has written. */
const printing =
  <O extends change.ChangeOptions>(
    run: (connection: Connection, named: Named, options: O) => Promise<change.Written>,
  ) =>
  async (text: string, flags: OfCommandLine<O>, io: Io): Promise<void> => {
    const named = readName(text);
    const { label, object, lines, notes } = await withCluster(flags, io, (connection) => run(connection, named, flags));
    const { output } = flags;
    if (output === 'name') io.data(toLines(label));
    else if (output) io.data(structured(withoutManagedFields(object), output));
    else io.stdout(toLines(...lines));
    io.stderr(toLines(...notes.map((note) => `Note: ${note}`)));
  };

export const pause = printing(pausing.pause);
export const resume = printing(pausing.resume);
export const setPolicy = printing(setRolloutPolicy);
export const undo = printing(undoRollout);
export const approve = printing(stages.approve);
export const promote = printing(stages.promote);
