import * as commands from '../../commands/index.ts';
import { toLines } from '../../text/index.ts';
import {
  type Connection,
  type ConnectionFlags,
  type Named,
  readName,
  structured,
  withCluster,
  withoutManagedFields,
} from '../../view/index.ts';
import type { Io } from '../io.ts';

// The commands that write, as the command line calls them.

type OfCommandLine<O> = O & ConnectionFlags & { output?: 'json' | 'yaml' | 'name' };

/** Runs a command, and prints what it has written. */
const printing =
  <O extends commands.ChangeOptions>(
    run: (connection: Connection, named: Named, options: O) => Promise<commands.Written>,
  ) =>
  async (text: string, flags: OfCommandLine<O>, io: Io): Promise<void> => {
    const named = readName(text);
    const { label, object, lines, notes } = await withCluster(flags, io, (connection) => run(connection, named, flags));
    const { output } = flags;
    if (output === 'name') io.stdout(toLines(label));
    else if (output) io.stdout(structured(withoutManagedFields(object), output));
    else io.stdout(toLines(...lines));
    io.stderr(toLines(...notes.map((note) => `Note: ${note}`)));
  };

export const pause = printing(commands.pause);
export const resume = printing(commands.resume);
export const setPolicy = printing(commands.setPolicy);
export const undo = printing(commands.undo);
export const approve = printing(commands.approve);
export const promote = printing(commands.promote);
