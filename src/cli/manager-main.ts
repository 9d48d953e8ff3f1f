import { addCrdsCommand } from './crds-command.ts';
import type { ExitCode } from './exit-code.ts';
import type { Io } from './io.ts';
import { addManagerCommand } from './manager-command.ts';
import { runProgram } from './program.ts';

/**
 * The command line of the manager's image: `edgeset manager ...`, and `edgeset crds` with what it needs. Resolves with the
 * exit code; never rejects.
 */
export const managerMain = (args: readonly string[], io: Io): Promise<ExitCode> =>
  runProgram(args, {
    name: 'edgeset',
    io,
    build(program, context) {
      addManagerCommand(program, context);
      addCrdsCommand(program, context);
    },
  });
