import { Command } from 'commander';
import { addCrdsCommand } from './crds-command.ts';
import { type ExitCode, exitCodes, reportError } from './exit-code.ts';
import type { Io } from './io.ts';
import { addManagerCommand } from './manager-command.ts';
import { version } from './version.ts';

const NAME = 'edgeset';

/**
 * The command line of the manager's image: `edgeset manager ...`, and `edgeset crds` with what it needs. Resolves with the
 * exit code; never rejects.
 */
export const managerMain = async (args: readonly string[], io: Io): Promise<ExitCode> => {
  let code: ExitCode = exitCodes.ok;
  const program = new Command(NAME)
    .description('DaemonSet rollouts for machines that come and go')
    .version(version)
    .exitOverride()
    .showHelpAfterError('(add --help to see what there is)')
    .configureOutput({ writeOut: io.stdout, writeErr: io.stderr });
  const context = {
    io,
    exit: (wanted: ExitCode) => {
      code = wanted;
    },
  };
  addManagerCommand(program, context);
  addCrdsCommand(program, context);
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    return reportError(error, io.stderr, NAME);
  }
};
