import { Command } from 'commander';
import type { AddCommand } from './command.ts';
import { addCrdsCommand } from './crds-command.ts';
import { type ExitCode, exitCodes, reportError } from './exit-code.ts';
import type { Io } from './io.ts';
import { addManagerCommand } from './manager-command.ts';
import { addPauseCommand, addResumeCommand } from './plugin/control-commands.ts';
import { addExplainCommand } from './plugin/explain-command.ts';
import { addPlanCommand } from './plugin/plan-command.ts';
import { addStatusCommand } from './plugin/status-command.ts';
import { addWaitCommand } from './plugin/wait-command.ts';
import { version } from './version.ts';

const commands: readonly AddCommand[] = [
  addStatusCommand,
  addExplainCommand,
  addPlanCommand,
  addWaitCommand,
  addPauseCommand,
  addResumeCommand,
  addManagerCommand,
  addCrdsCommand,
];

/** Runs the command line `args` (without node and script) and resolves with the exit code. Never rejects. */
export const main = async (args: readonly string[], io: Io): Promise<ExitCode> => {
  let code: ExitCode = exitCodes.ok;
  const program = new Command('edgeset')
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
  for (const add of commands) add(program, context);
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    return reportError(error, io.stderr);
  }
};
